package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// mounting says how programs can be given a view of their own.
type mounting struct {
	base  *os.File // the process's own namespace of mounts; nil: this process may not make others
	shell string   // where an unprivileged user may make namespaces: what mounts, and then becomes the program
	why   string   // when neither is
	lost  error    // the thread could not come back from a program's view
}

// Space is the view of the programs of one instance. Close it when they have been started.
type Space struct {
	Seen
	file   *os.File // a namespace of mounts
	script []string // or what a shell does in a new one
}

// Close lets go of the namespace. Programs that run in it keep it.
func (s *Space) Close() {
	if s != nil && s.file != nil {
		_ = s.file.Close() // it was only opened
	}
}

// Mounts tells why programs cannot be given a view of their own; "": they can.
func (s *Starter) Mounts() string { return s.mounting.why }

// openMounts finds out. It is called by the thread that starts programs, which leaves the view that it shares with others for it.
func openMounts() mounting {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return mounting{why: "the system does not let a thread have a view of its own: " + err.Error()}
	}
	base, err := os.Open("/proc/thread-self/ns/mnt")
	if err != nil {
		return mounting{why: "the system has no namespaces of mounts: " + err.Error()}
	}
	err = unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = enter(base)
	}
	if err == nil {
		return mounting{base: base}
	}
	_ = base.Close() // it was only opened
	m := mounting{shell: "/bin/sh"}
	if e := m.try(); e != nil {
		m.shell, m.why = "", fmt.Sprintf("namespaces of mounts are not permitted: %v; nor to this user in a namespace of its own: %v", err, e)
	}
	return m
}

func (m *mounting) close() {
	if m.base != nil {
		_ = m.base.Close() // it was only opened
	}
}

// try tells whether the shell can mount what it would have to.
func (m *mounting) try() error {
	cmd := exec.Command(m.shell, "-c", `mount -t tmpfs -o size=4096 tmpfs /tmp`)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = []string{"PATH=" + systemPath}, "/", ownUser(&syscall.SysProcAttr{})
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) > 0 {
		err = fmt.Errorf("%w: %.200s", err, out)
	}
	return err
}

const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin"

// ownUser lets a program be root in a namespace of its own, where it may mount, and the user that we are anywhere else.
func ownUser(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	return a
}

// errNoSpace is what stands in the way of a view, together with its reason.
var errNoSpace = errors.New("the function has no view of its own of the machine's files")

// Space makes a view. What of it could not be is said by the error; the Space is there nevertheless, unless it is nil.
func (s *Starter) Space(v View) (*Space, error) {
	switch {
	case s.mounting.why != "":
		return nil, fmt.Errorf("%w: %s", errNoSpace, s.mounting.why)
	case s.mounting.base == nil:
		return s.mounting.later(&v)
	}
	var space *Space
	var err error
	if e := s.do(func() { space, err = s.mounting.make(&v) }); e != nil {
		return nil, e
	}
	return space, err
}

// make makes a namespace and mounts in it. The thread is back where it was when it returns.
func (m *mounting) make(v *View) (_ *Space, err error) {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoSpace, err)
	}
	defer func() {
		if m.lost = enter(m.base); m.lost != nil {
			err = errors.Join(err, m.lost)
		}
	}()
	// What is unmounted on the machine later goes from here, too; what is mounted here is seen nowhere else.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoSpace, err)
	}
	space := &Space{}
	err = space.mount(v)
	file, e := os.Open("/proc/thread-self/ns/mnt")
	if e != nil {
		return nil, fmt.Errorf("%w: %w", errNoSpace, e)
	}
	space.file = file
	return space, err
}

// mount mounts what it can.
func (s *Space) mount(v *View) error {
	var errs []error
	if v.Temp != "" && v.TempBytes > 0 {
		options := "mode=0700,size=" + strconv.FormatInt(v.TempBytes, 10)
		if err := unix.Mount("tmpfs", v.Temp, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			errs = append(errs, fmt.Errorf("its temporary files are not bounded: %w", err))
		} else {
			s.Temp = true
			if v.tmp() {
				s.Tmp = unix.Mount(v.Temp, "/tmp", "", unix.MS_BIND, "") == nil // a machine may have none
			}
		}
	}
	if len(v.Opt) > 0 {
		const flags = unix.MS_RDONLY | unix.MS_NODEV
		lower := escaped(append(v.Opt[:len(v.Opt):len(v.Opt)], "/opt"))
		err := unix.Mount("overlay", "/opt", "overlay", flags, "lowerdir="+lower)
		if err != nil && !v.keeps("/opt") { // a layer may lie there
			if len(v.Opt) == 1 {
				err = unix.Mount(v.Opt[0], "/opt", "", unix.MS_BIND, "")
			} else {
				err = unix.Mount("overlay", "/opt", "overlay", flags, "lowerdir="+escaped(v.Opt))
			}
		}
		if s.Opt = err == nil; err != nil {
			errs = append(errs, fmt.Errorf("its layers are not at /opt: %w", err))
		}
	}
	return errors.Join(errs...)
}

// mountScript mounts and becomes the program: $1 is the size, $2 the folder, $3 whether it is /tmp, $4 the layers.
const mountScript = `m() { LD_LIBRARY_PATH= PATH=` + systemPath + ` mount -n "$@"; }
m -t tmpfs -o "mode=0700,nosuid,nodev,size=$1" tmpfs "$2" || exit 125
[ -z "$3" ] || m --bind "$2" /tmp
[ -z "$4" ] || m -t overlay -o "ro,lowerdir=$4" overlay /opt
shift 4
exec "$@"`

// later is a view that the program's own shell will make.
func (m *mounting) later(v *View) (*Space, error) {
	if v.Together {
		return nil, fmt.Errorf("%w: its programs would not share it where only a namespace of each one's own is permitted", errNoSpace)
	}
	if v.Temp == "" || v.TempBytes <= 0 {
		return nil, nil
	}
	if _, err := os.Stat(v.Temp); err != nil {
		return nil, fmt.Errorf("its temporary files are not bounded: %w", err)
	}
	s := &Space{Seen: Seen{Temp: true, Tmp: v.tmp(), Opt: len(v.Opt) > 0}}
	var err error
	for _, folder := range v.Opt {
		if _, e := os.Stat(folder); e != nil {
			s.Opt, err = false, fmt.Errorf("its layers are not at /opt: %w", e)
		}
	}
	tmp, opt := "", ""
	if s.Tmp {
		tmp = "yes"
	}
	if s.Opt {
		opt = escaped(append(v.Opt[:len(v.Opt):len(v.Opt)], "/opt"))
	}
	s.script = []string{m.shell, "-c", mountScript, m.shell, strconv.FormatInt(v.TempBytes, 10), v.Temp, tmp, opt}
	return s, err
}

// enter takes the calling thread into a namespace of mounts. It must not run on any other thread.
func enter(namespace *os.File) error {
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("cannot enter a namespace of mounts: %w", err)
	}
	runtime.KeepAlive(namespace)
	return nil
}

// start starts a program on the thread for that, in its view.
func (s *Starter) start(p *Program, files []*os.File) (*os.Process, error) {
	attr := &os.ProcAttr{Dir: p.Dir, Env: p.Env, Files: files, Sys: attributes(p)}
	switch {
	case s.mounting.lost != nil:
		return nil, s.mounting.lost
	case p.Space == nil:
	case p.Space.file != nil:
		if err := enter(p.Space.file); err != nil {
			return nil, err
		}
		process, err := os.StartProcess(p.Path, p.Args, attr)
		s.mounting.lost = enter(s.mounting.base) // if it cannot, what comes after this one is not started
		return process, err
	case p.Space.script != nil:
		ownUser(attr.Sys)
		args := append(p.Space.script[:len(p.Space.script):len(p.Space.script)], p.Path)
		return os.StartProcess(p.Space.script[0], append(args, p.Args[1:]...), attr)
	}
	return os.StartProcess(p.Path, p.Args, attr)
}
