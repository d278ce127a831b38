//go:build amd64 || arm64

package isolate

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What every room has of the machine, as far as it is there.
var (
	systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec", "/opt",
		"/nix/store", "/gnu/store"}
	// systemFiles are what programs look up by themselves, and nothing that a machine's owner writes secrets into.
	systemFiles = []string{"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf",
		"/etc/nsswitch.conf", "/etc/gai.conf", "/etc/protocols", "/etc/services",
		"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/localtime", "/etc/ld.so.cache",
		"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
		"/etc/mime.types", "/etc/os-release", "/etc/fonts", "/etc/terminfo", "/etc/ImageMagick-6"}
	systemPatterns = []string{"/etc/java*", "/etc/python*", "/etc/node*", "/etc/ld-musl-*"}
	devices        = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
)

// root is a file system that is being put together at a folder of the machine.
type root struct {
	*script
	at    string
	made  map[string]bool // folders that are there
	seen  []string        // machine paths that are seen in it, with what is below them
	empty []string        // paths below those, of which nothing is seen
}

// Files of a room's /tmp, folders and links among them: one for each page, since empty ones take memory, too.
const (
	pageBytes   = 4096
	fewestFiles = 1024
)

const tmpfsFlags = unix.MS_NOSUID | unix.MS_NODEV

// files adds what makes a room's file system of a Plan to a script: a child with a namespace of mounts of its own is in
// it afterwards, and cannot go back.
func (s *script) files(at string, p *Plan, proc bool) {
	r := &root{script: s, at: at, made: map[string]bool{"/": true}}
	s.call("keep mounts to itself", unix.SYS_MOUNT, s.text("none"), s.text("/"), 0, unix.MS_REC|unix.MS_PRIVATE)
	s.call("mount a root", unix.SYS_MOUNT, s.text("tmpfs"), s.text(at), s.text("tmpfs"), tmpfsFlags,
		s.text("mode=0755,size=4m"))
	r.folder("/tmp")
	r.tmpfs("/tmp", "mode=1777,size="+strconv.FormatInt(p.TempBytes, 10)+",nr_inodes="+
		strconv.FormatInt(max(p.TempBytes/pageBytes, fewestFiles), 10))
	for _, path := range p.shown() {
		r.show(path, p.Hide)
	}
	if p.Code != "" {
		r.folder("/var/task")
		r.bind(p.Code, "/var/task", p.Hide)
	}
	r.layers(p.Layers)
	for _, l := range p.Layers { // a layer may lie around what is hidden; where it is not at /opt, nothing is there
		r.cover(l, "/opt", p.Hide, unix.ENOENT)
	}
	r.devices()
	attr := point(s, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID})
	const dir = ^uintptr(99) // AT_FDCWD
	s.call("make the root read-only", unix.SYS_MOUNT_SETATTR, dir, s.text(at), unix.AT_RECURSIVE, attr,
		unsafe.Sizeof(unix.MountAttr{}))
	attr = point(s, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	for _, path := range []string{"/tmp", "/dev/shm"} {
		s.call("make "+path+" writable", unix.SYS_MOUNT_SETATTR, dir, s.text(at+path), 0, attr,
			unsafe.Sizeof(unix.MountAttr{}))
	}
	if proc {
		s.call("mount /proc", unix.SYS_MOUNT, s.text("proc"), s.text(at+"/proc"), s.text("proc"),
			unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC)
	}
	s.call("go to the root", unix.SYS_CHDIR, s.text(at))
	s.call("change the root", unix.SYS_PIVOT_ROOT, s.text("."), s.text("."))
	s.call("leave the machine's root", unix.SYS_UMOUNT2, s.text("."), unix.MNT_DETACH)
	s.call("go to the root", unix.SYS_CHDIR, s.text("/"))
}

// shown are the machine's paths that are seen, those with others below them first.
func (p *Plan) shown() []string {
	all := slices.Concat(systemFolders, systemFiles, p.See, p.Layers)
	for _, pattern := range systemPatterns {
		found, _ := filepath.Glob(pattern) // the patterns are right
		all = append(all, found...)
	}
	for _, program := range p.Programs {
		all = append(all, installed(program)...)
	}
	if p.Code != "" {
		all = append(all, p.Code)
	}
	for i, path := range all {
		all[i] = filepath.Clean(path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// installed is what a program needs that was installed in a folder of its own, as version managers do it: the folder
// that its bin is in, if there is a lib as well.
func installed(program string) (all []string) {
	paths := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil && real != program {
		paths = append(paths, real)
	}
	for _, p := range paths {
		bin := filepath.Dir(p)
		prefix := filepath.Dir(bin)
		home, _ := os.UserHomeDir() // without one there is nothing to spare
		if _, err := os.Stat(filepath.Join(prefix, "lib")); err == nil && prefix != "/" && prefix != home &&
			filepath.Base(bin) == "bin" {
			all = append(all, prefix)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// below tells whether a path is a folder or lies in it.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// show has a path of the machine seen where it lies, unless it is already.
func (r *root) show(path string, hide []string) {
	info, err := os.Lstat(path)
	if err != nil || path == "/" {
		return
	}
	if r.sees(path) {
		return
	}
	switch mode := info.Mode(); {
	case mode&os.ModeSymlink != 0 && filepath.Dir(path) == "/": // /bin → usr/bin
		if to, err := os.Readlink(path); err == nil {
			r.call("link "+path, unix.SYS_SYMLINKAT, r.text(to), 0, r.text(r.at+path))
		}
		return
	case mode&os.ModeSymlink != 0:
		if info, err = os.Stat(path); err != nil {
			return // it leads nowhere
		}
		fallthrough
	default:
		if info.IsDir() {
			r.folder(path)
		} else {
			r.file(path)
		}
	}
	r.bind(path, path, hide)
	r.seen = append(r.seen, path)
}

// sees tells whether a path of the machine is seen already.
func (r *root) sees(path string) bool {
	for _, e := range r.empty {
		if below(path, e) {
			return false
		}
	}
	for _, s := range r.seen {
		if below(path, s) {
			return true
		}
	}
	return false
}

// folder makes a folder, and those that it lies in.
func (r *root) folder(path string) {
	if r.made[path] || r.sees(path) {
		return
	}
	r.folder(filepath.Dir(path))
	r.made[path] = true
	r.call("make "+path, unix.SYS_MKDIRAT, 0, r.text(r.at+path), 0o755).may[0] = unix.EEXIST
}

// file makes a file for another one to be mounted on.
func (r *root) file(path string) {
	r.folder(filepath.Dir(path))
	r.call("make "+path, unix.SYS_MKNODAT, 0, r.text(r.at+path), unix.S_IFREG|0o644).may[0] = unix.EEXIST
}

func (r *root) tmpfs(path, options string) *step {
	return r.call("mount "+path, unix.SYS_MOUNT, r.text("tmpfs"), r.text(r.at+path), r.text("tmpfs"), tmpfsFlags,
		r.text(options))
}

// bind has something of the machine seen at a path, without what is hidden in it.
func (r *root) bind(from, to string, hide []string) {
	r.call("show "+from, unix.SYS_MOUNT, r.text(from), r.text(r.at+to), 0, unix.MS_BIND|unix.MS_REC)
	r.cover(from, to, hide, 0)
}

// cover hides what is hidden in something of the machine that is seen at a path. may is an error that is none.
func (r *root) cover(from, to string, hide []string, may unix.Errno) {
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return // mounting will say so
	}
	for _, h := range hide {
		rest, inside := strings.CutPrefix(h, strings.TrimSuffix(real, "/")+"/")
		info, err := os.Stat(h)
		switch path := filepath.Join(to, rest); {
		case !inside || err != nil:
		case info.IsDir():
			r.tmpfs(path, "mode=0755,size=1m").may[0] = may
			r.empty = append(r.empty, path)
			r.made[path] = true
		default:
			r.call("hide "+h, unix.SYS_MOUNT, r.text("/dev/null"), r.text(r.at+path), 0, unix.MS_BIND).may[0] = may
		}
	}
}

// missedLayers is the bit of what a script has missed.
const missedLayers = 1

// layers has folders seen together as /opt, before what the machine has there.
func (r *root) layers(layers []string) {
	if len(layers) == 0 {
		return
	}
	r.folder("/opt")
	lower := layers
	if entries, err := os.ReadDir("/opt"); err == nil && len(entries) > 0 {
		lower = append(slices.Clone(layers), "/opt")
	}
	if len(lower) == 1 {
		r.call("show layers at /opt", unix.SYS_MOUNT, r.text(lower[0]), r.text(r.at+"/opt"), 0,
			unix.MS_BIND|unix.MS_REC).soft = missedLayers
		return
	}
	r.call("show layers at /opt", unix.SYS_MOUNT, r.text("overlay"), r.text(r.at+"/opt"), r.text("overlay"),
		unix.MS_RDONLY|unix.MS_NODEV, r.text("lowerdir="+escaped(lower))).soft = missedLayers
}

// escaped is a list of folders as the option lowerdir takes it.
func escaped(folders []string) string {
	r := strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`)
	var all []string
	for _, f := range folders {
		all = append(all, r.Replace(f))
	}
	return strings.Join(all, ":")
}

func (r *root) devices() {
	r.folder("/dev/shm")
	r.folder("/proc")
	for _, path := range devices {
		r.file(path)
		r.call("show "+path, unix.SYS_MOUNT, r.text(path), r.text(r.at+path), 0, unix.MS_BIND)
	}
	for path, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		r.call("link /dev/"+path, unix.SYS_SYMLINKAT, r.text(to), 0, r.text(r.at+"/dev/"+path))
	}
	// Shared memory is in the same file system as /tmp, so that both are bounded together.
	r.call("show /dev/shm", unix.SYS_MOUNT, r.text(r.at+"/tmp"), r.text(r.at+"/dev/shm"), 0, unix.MS_BIND)
}
