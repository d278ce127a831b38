//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ways are named by what is to be kept from a function.
var ways = map[string]func(*target) string{
	// files
	"read the journal":         func(t *target) string { return reads(t.Journal, t) },
	"read the configuration":   func(t *target) string { return reads(t.Config, t) },
	"write beside the journal": func(t *target) string { return writes(t.Journal + ".new") },
	"write its own code":       func(t *target) string { return writes(filepath.Join(t.Code, "new")) },
	"write /var/task":          func(t *target) string { return writes("/var/task/new") },
	"rename its own code":      func(t *target) string { return renames(filepath.Join(t.Code, "bootstrap")) },
	"read another's code":      func(t *target) string { return reads(filepath.Join(t.Other, "secret"), t) },
	"write another's code":     func(t *target) string { return writes(filepath.Join(t.Other, "new")) },
	"write a layer":            func(t *target) string { return writes(filepath.Join(t.Layer, "new")) },
	"write /opt":               func(t *target) string { return writes("/opt/hikyaku-escape") },
	"write /usr":               func(t *target) string { return writes("/usr/hikyaku-escape") },
	"write /etc":               func(t *target) string { return writes("/etc/hikyaku-escape") },
	"write the root":           func(t *target) string { return writes("/hikyaku-escape") },
	"read another's files":     func(t *target) string { return reads(t.Temp, t) },
	"read by a symbolic link":  func(t *target) string { return linked(os.Symlink, t) },
	"read by a hard link":      func(t *target) string { return linked(os.Link, t) },
	"read /etc/shadow": func(*target) string {
		_,
			err := os.ReadFile("/etc/shadow")
		return succeeded(err, "has read it")
	},
	"read a home": func(*target) string {
		all,
			err := os.ReadDir("/root")
		return succeeded(err, "sees %d", len(all))
	},
	"read by process 1's root": func(t *target) string { return reads("/proc/1/root"+t.Journal, t) },
	"read by process 1's cwd":  func(t *target) string { return reads("/proc/1/cwd/../../../../../.."+t.Journal, t) },
	"read by its owner's root": func(t *target) string {
		return reads(fmt.Sprintf("/proc/%d/root%s", t.Owner,
			t.Journal), t)
	},
	"read by its own cwd": func(t *target) string {
		return reads("/proc/self/cwd/../../../../../../../.."+
			t.Journal, t)
	},
	"read its owner's environ":  func(t *target) string { return reads(fmt.Sprintf("/proc/%d/environ", t.Owner), t) },
	"read anybody's environ":    environs,
	"open a file by its handle": handle,
	"an inherited descriptor":   inherited,
	"/sys": func(*target) string {
		all, err := os.ReadDir("/sys/kernel")
		return succeeded(err, "sees %d", len(all))
	},
	"a control group": func(*target) string {
		found, _ := filepath.Glob("/sys/fs/cgroup/*")
		return succeeded(none(len(found)), "sees %d", len(found))
	},
	"/proc/sys":           func(*target) string { return opens("/proc/sys/kernel/core_pattern") },
	"/proc/sysrq-trigger": func(*target) string { return opens("/proc/sysrq-trigger") },
	"/dev/mem":            func(*target) string { return device("/dev/mem") },
	"/dev/kmsg":           func(*target) string { return device("/dev/kmsg") },
	"a disk":              disks,
	"make a device": func(*target) string {
		return succeeded(unix.Mknod(filepath.Join(os.TempDir(), "device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))),
			"has made one")
	},
	// processes
	"signal its owner": func(t *target) string {
		return succeeded(syscall.Kill(t.Owner, 0), "could kill %d",
			t.Owner)
	},
	"see other processes":     processes,
	"trace a process":         func(t *target) string { return succeeded(unix.PtraceSeize(t.Owner), "traces it") },
	"trace process 1":         func(*target) string { return succeeded(unix.PtraceSeize(1), "traces it") },
	"read a process's memory": memory,
	"take a descriptor":       descriptors,
	"another's shared memory": segments,
	"dump its memory to files": func(*target) string {
		var l unix.Rlimit
		return succeeded(errors(unix.Getrlimit(unix.RLIMIT_CORE, &l), l.Max == 0), "may write %d", l.Max)
	},
	// privileges
	"be root":                  func(*target) string { return succeeded(unix.Setuid(0), "is root") },
	"be in another group":      func(*target) string { return succeeded(unix.Setgroups([]int{0}), "is") },
	"have been root all along": func(*target) string { return succeeded(none(b(os.Getuid() == 0)), "is root") },
	"have capabilities":        capabilities,
	"gain by a setuid program": gain,
	"unshare users":            func(*target) string { return unshares(unix.CLONE_NEWUSER) },
	"unshare mounts":           func(*target) string { return unshares(unix.CLONE_NEWNS) },
	"enter a namespace":        enters,
	// What changes the machine is asked for in a way that changes nothing where it is permitted.
	"mount": func(*target) string { return reached(unix.Mount("none", os.TempDir(), "no-such-kind", 0, "")) },
	"unmount": func(*target) string {
		return reached(unix.Unmount(os.TempDir()+"/.", unix.UMOUNT_NOFOLLOW|unix.MNT_EXPIRE))
	},
	"change the root": func(*target) string { return reached(unix.Chroot("/")) },
	// the kernel
	"add a key": func(*target) string {
		_, err := unix.AddKey("user", "k", []byte("v"), -2)
		return succeeded(err, "has")
	},
	"load a program": func(*target) string { return calls(unix.SYS_BPF, 5, 0, 0) },
	"count events":   events,
	"serve faults":   func(*target) string { return calls(unix.SYS_USERFAULTFD, 1, 0, 0) },
	"ring of requests": func(*target) string {
		var p [128]byte
		return calls(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&p)), 0)
	},
	"push into a terminal": terminal,
	"set the clock":        clock,
	"name the machine":     named,
	"another family of sockets": func(*target) string {
		fd, err := unix.Socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)
		_ = unix.Close(fd)
		return succeeded(err, "has one")
	},
	// programs of the machine
	"a socket in the file system": func(t *target) string { return dials("unix", t.Socket) },
	"a socket without a file":     func(t *target) string { return dials("unix", "@"+t.Name) },
	"docker": func(*target) string {
		return exists("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock")
	},
	"the sessions' sockets": func(*target) string { return exists("/run", "/var/run", "/run/user", "/run/systemd") },
	// more than it may have
	"bomb: files": bombFiles, "bomb: temporary files": bombTemp, "bomb: shared memory": bombShared,
}

// reached is what a call has given whose arguments cannot be right: an error about them comes from behind the gate.
func reached(err error) string {
	if err == unix.EPERM || err == unix.EACCES || err == unix.ENOSYS {
		return ""
	}
	return fmt.Sprint("the kernel says ", err)
}

// clock sets what the clock's ticks are already.
func clock(*target) string {
	var now unix.Timex
	if _, err := unix.Adjtimex(&now); err != nil {
		return ""
	}
	_, err := unix.Adjtimex(&unix.Timex{Modes: 0x4000 /* ADJ_TICK */, Tick: now.Tick})
	return succeeded(err, "may set it")
}

// named gives the machine the name that it has.
func named(*target) string {
	name, err := os.Hostname()
	return succeeded(errors(err, false, unix.Sethostname([]byte(name))), "may name it")
}

func b(is bool) int {
	if is {
		return 1
	}
	return 0
}

func none(n int) error {
	if n == 0 {
		return unix.ENOENT
	}
	return nil
}

// errors is the first error, or one if something is so.
func errors(first error, is bool, more ...error) error {
	if is {
		return unix.ENOENT
	}
	for _, e := range append([]error{first}, more...) {
		if e != nil {
			return e
		}
	}
	return nil
}

func renames(path string) string {
	if err := os.Rename(path, path+".new"); err != nil {
		return ""
	}
	_ = os.Rename(path+".new", path)
	return "has renamed " + path
}

func linked(link func(string, string) error, t *target) string {
	path := filepath.Join(os.TempDir(), "link-"+strconv.Itoa(int(time.Now().UnixNano())))
	if link(t.Journal, path) != nil {
		return ""
	}
	defer os.Remove(path)
	return reads(path, t)
}

func environs(t *target) string {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range found {
		if got := reads(path, t); got != "" {
			return got
		}
	}
	return ""
}

func handle(t *target) string {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0)
	if err != nil {
		return ""
	}
	dir, err := unix.Open("/", unix.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	fd, err := unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
	_ = unix.Close(fd)
	return succeeded(err, "has opened /")
}

// inherited finds files that the function has not opened itself.
func inherited(*target) string {
	found, _ := os.ReadDir("/proc/self/fd")
	for _, f := range found {
		n, _ := strconv.Atoi(f.Name())
		to, err := os.Readlink("/proc/self/fd/" + f.Name())
		if err != nil || n <= 2 {
			continue
		}
		own := false
		// those of Go, and of the connection to the Runtime API
		for _, kind := range []string{"anon_inode:", "/proc/", "socket:", "/sys/fs/cgroup"} {
			own = own || strings.HasPrefix(to, kind)
		}
		if !own {
			return f.Name() + " is " + to
		}
	}
	return ""
}

func opens(path string) string {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = f.Close()
	}
	return succeeded(err, "has opened %s for writing", path)
}

func device(path string) string {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	return succeeded(err, "has opened %s", path)
}

func disks(*target) string {
	found, _ := filepath.Glob("/dev/[svx]d[a-z]*")
	for _, path := range append(found, "/dev/vda", "/dev/sda", "/dev/nvme0n1") {
		if got := device(path); got != "" {
			return got
		}
	}
	return ""
}

func processes(t *target) string {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/stat", t.Owner))
	return succeeded(err, "sees %d", t.Owner)
}

func memory(t *target) string {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", t.Owner), os.O_RDWR, 0)
	if err == nil {
		_ = f.Close()
	}
	return succeeded(err, "has opened the memory of %d", t.Owner)
}

func descriptors(t *target) string {
	fd, err := unix.PidfdOpen(t.Owner, 0)
	if err != nil {
		return ""
	}
	got, err := unix.PidfdGetfd(fd, 2, 0)
	_ = unix.Close(got)
	return succeeded(err, "has taken one")
}

// segments finds a segment that the test has made.
func segments(t *target) string {
	id, _, errno := unix.Syscall(unix.SYS_SHMGET, 0x68696b79, 0, 0)
	if errno != 0 {
		return ""
	}
	return fmt.Sprintf("has found %d", id)
}

func capabilities(*target) string {
	head, data := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if unix.Capget(&head, &data[0]) != nil || data[0].Effective|data[1].Effective|data[0].Permitted == 0 {
		return ""
	}
	return fmt.Sprintf("has %x", data[0].Effective)
}

func gain(*target) string {
	n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	return succeeded(errors(err, n == 1), "could")
}

// unshares tries it in another process, as a namespace cannot be left.
func unshares(flag uintptr) string {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flag}
	if cmd.Run() == nil {
		return "has a clone"
	}
	got := make(chan string)
	go func() {
		runtime.LockOSThread() // the thread ends with this
		got <- succeeded(errors(unix.Unshare(unix.CLONE_FS), false, unix.Unshare(int(flag))), "has unshared")
	}()
	return <-got
}

func enters(t *target) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", t.Owner))
	if err != nil {
		return ""
	}
	defer f.Close()
	return succeeded(unix.Setns(int(f.Fd()), unix.CLONE_NEWUTS|unix.CLONE_NEWNS), "has entered %s", f.Name())
}

func calls(nr, a, b, c uintptr) string {
	r, _, errno := unix.Syscall(nr, a, b, c)
	if errno == unix.EPERM || errno == unix.ENOSYS || errno == unix.EACCES {
		return ""
	}
	// what is wrong with its arguments is said by the kernel's own code, which it has reached
	return fmt.Sprintf("%d, %v", int(r), errno)
}

func events(*target) string {
	fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}, 0, -1, -1, 0)
	_ = unix.Close(fd)
	return succeeded(err, "counts")
}

func terminal(*target) string {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		fd = 0
	}
	c := byte('x')
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	if errno == unix.EPERM {
		return ""
	}
	return "the terminal says " + errno.Error()
}

func dials(network, address string) string {
	c, err := net.DialTimeout(network, address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return succeeded(err, "has connected")
}

func exists(paths ...string) string {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return "sees " + p
		}
	}
	return ""
}

const tooMany = 2000

func bombFiles(*target) string {
	var open []*os.File
	defer func() {
		for _, f := range open {
			_ = f.Close()
		}
	}()
	for range tooMany {
		f, err := os.Open("/dev/null")
		if err != nil {
			return ""
		}
		open = append(open, f)
	}
	return fmt.Sprintf("has opened %d", tooMany)
}

// tooMuch is beyond what the test gives as storage, in MB.
const tooMuch = 8

func fills(path string) string {
	defer os.Remove(path)
	if err := os.WriteFile(path, make([]byte, tooMuch<<20), 0o600); err != nil {
		return ""
	}
	return fmt.Sprintf("has written %d MB", tooMuch)
}

func bombTemp(*target) string   { return fills(filepath.Join(os.TempDir(), "much")) }
func bombShared(*target) string { return fills("/dev/shm/much") }
