//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// handed are the descriptors above standard error that the program has begun with, beside those of Go's runtime: they
// are looked for before anything has been opened.
var handed = func() (all []string) {
	for fd := 3; fd < 1024; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			continue
		}
		to, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if !strings.HasPrefix(to, "anon_inode:[event") && !strings.HasPrefix(to, "/sys/fs/cgroup") &&
			!strings.HasPrefix(to, "/proc/self/fd") {
			all = append(all, fmt.Sprint(fd, " is ", to))
		}
	}
	return all
}()

// more ways, named as the others are.
func init() {
	for name, try := range map[string]func(*target) string{
		"a descriptor that was handed over": func(*target) string { return strings.Join(handed, ", ") },
		"a mount that can be written":       mounts(func(o string) bool { return strings.HasPrefix(o, "rw") }),
		"a mount with setuid programs":      mounts(func(o string) bool { return !strings.Contains(o, "nosuid") }),
		"a device on /tmp": func(*target) string {
			return succeeded(errors(nil, strings.Contains(optionsOf("/tmp"), "nodev")), "is permitted")
		},
		"process 1's memory":      func(*target) string { return opens("/proc/1/mem") },
		"process 1's program":     func(*target) string { return opens("/proc/1/exe") },
		"process 1's owner":       func(*target) string { return fileOf("/proc/1/fd/0") },
		"its own program":         func(*target) string { return opens("/proc/self/exe") },
		"copy process 1's memory": func(*target) string { return copies(1) },
		"trace a child":           traces,
		"a descriptor of process 1": func(*target) string {
			return ofProcess1(func(fd int) error { _, err := unix.PidfdGetfd(fd, 0, 0); return err })
		},
		"the namespaces of process 1": func(*target) string {
			return ofProcess1(func(fd int) error { return unix.Setns(fd, unix.CLONE_NEWNS|unix.CLONE_NEWPID) })
		},
		"end process 1": func(*target) string { _ = unix.Kill(1, unix.SIGKILL); return "" }, // else nobody answers
		"write what it is": func(*target) string {
			return first("/proc/self/", opens, "oom_score_adj", "uid_map", "setgroups", "attr/current", "loginuid",
				"timerslack_ns", "coredump_filter", "clear_refs", "comm")
		},
		"the kernel's settings": func(*target) string {
			return first("/proc/sys/", opens, "kernel/modprobe", "kernel/hostname", "vm/drop_caches",
				"fs/binfmt_misc/register", "kernel/ns_last_pid", "net/ipv4/ip_forward",
				"kernel/sched_rt_runtime_us", "user/max_user_namespaces")
		},
		"the kernel's memory": func(*target) string { return device("/proc/kcore") },
		"the kernel's log": func(*target) string {
			_, err := unix.Klogctl(unix.SYSLOG_ACTION_SIZE_BUFFER, nil)
			return succeeded(err, "can be read")
		},
		"the kernel's addresses": func(*target) string {
			return first("/proc/", addresses, "kallsyms", "iomem")
		},
		"devices": func(*target) string {
			return first("/dev/", func(path string) string { return exists(path) }, "tty", "console", "tty0", "pts/0",
				"fuse", "kvm", "net/tun", "vhost-vsock", "vsock", "mapper/control", "loop-control", "loop0",
				"userfaultfd", "cpu/0/msr", "port", "nvram", "rtc0", "watchdog", "uinput", "uhid", "snapshot", "hpet",
				"mqueue", "hugepages", "dri", "input", "bus/usb", "autofs", "btrfs-control")
		},
		"sockets of other families": families,
		"other protocols": func(*target) string {
			for _, protocol := range []int{unix.IPPROTO_SCTP, unix.IPPROTO_DCCP, unix.IPPROTO_UDPLITE, 256 /* SMC */} {
				for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET, unix.SOCK_DCCP} {
					fd, err := unix.Socket(unix.AF_INET, kind, protocol)
					_ = unix.Close(fd)
					if err != unix.EPERM {
						return fmt.Sprintf("protocol %d, kind %d: %v", protocol, kind, err)
					}
				}
			}
			return ""
		},
		"raw packets": func(*target) string {
			for _, kind := range []int{unix.SOCK_RAW, unix.SOCK_PACKET} {
				fd, err := unix.Socket(unix.AF_INET, kind, unix.IPPROTO_ICMP)
				_ = unix.Close(fd)
				if err == nil {
					return fmt.Sprint("has kind ", kind)
				}
			}
			return ""
		},
		"the kernel's netlink": netlinks,
		"be root on a socket": func(*target) string {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return ""
			}
			root := unix.UnixCredentials(&unix.Ucred{Pid: 1})
			return succeeded(unix.Sendmsg(pair[0], []byte("x"), root, nil, 0), "is")
		},
		"a queue of the machine": func(t *target) string {
			name := append([]byte(t.Name), 0)
			fd, _, errno := unix.Syscall(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_RDONLY, 0)
			return succeeded(errors(nil, errno != 0), "has opened %d", fd)
		},
		"mount in another way": func(*target) string {
			at, none := []byte("/tmp\x00"), uintptr(0)
			cwd := ^uintptr(99)
			for _, got := range []string{
				calls(unix.SYS_OPEN_TREE, cwd, uintptr(unsafe.Pointer(&at[0])), 1),
				calls(unix.SYS_FSOPEN, none, none, none), calls(unix.SYS_FSPICK, cwd, none, none),
				calls(unix.SYS_FSMOUNT, ^none, none, none), calls(unix.SYS_FSCONFIG, ^none, none, none),
				calls(unix.SYS_MOVE_MOUNT, ^none, none, ^none), calls(unix.SYS_MOUNT_SETATTR, cwd, none, none),
				calls(unix.SYS_OPEN_TREE_ATTR, cwd, none, none), calls(unix.SYS_PIVOT_ROOT, none, none, none),
				calls(unix.SYS_UMOUNT2, none, none, none),
			} {
				if got != "" {
					return got
				}
			}
			return ""
		},
		"a namespace by clone3": func(*target) string {
			a := [11]uint64{unix.CLONE_NEWUSER, 4: uint64(syscall.SIGCHLD)}
			pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0)
			if errno == 0 && pid == 0 {
				unix.Exit(0)
			}
			return succeeded(errors(nil, errno != 0), "has one")
		},
		"a namespace of its own of another kind": func(*target) string {
			for _, flag := range []uintptr{unix.CLONE_NEWNET, unix.CLONE_NEWPID, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS,
				unix.CLONE_NEWCGROUP, unix.CLONE_NEWTIME} {
				if got := unshares(flag); got != "" {
					return fmt.Sprintf("%s with %x", got, flag)
				}
			}
			return ""
		},
		"modules and another kernel": func(*target) string {
			for _, nr := range []uintptr{unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
				unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL,
				unix.SYS_FANOTIFY_INIT, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE, unix.SYS_MOVE_PAGES,
				unix.SYS_MIGRATE_PAGES, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_IO_URING_ENTER,
				unix.SYS_IO_URING_REGISTER, unix.SYS_SETTIMEOFDAY, unix.SYS_SETDOMAINNAME} {
				if got := calls(nr, ^uintptr(0), 0, 0); got != "" {
					return fmt.Sprint("call ", nr, ": ", got)
				}
			}
			return ""
		},
		"another machine's calls": func(*target) string { return calls(0x40000000|39, 0, 0, 0) },
		"executable data":         func(*target) string { return calls(unix.SYS_PERSONALITY, 0x0400000, 0, 0) },
		"be more urgent than others": func(*target) string {
			a := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: 1 /* SCHED_FIFO */, Priority: 1}
			if unix.SchedSetAttr(0, a, 0) == nil {
				return "is of a real-time class"
			}
			return succeeded(unix.Setpriority(unix.PRIO_PROCESS, 0, -1), "is")
		},
		"lift its limits": func(*target) string {
			l := unix.Rlimit{Cur: 1 << 16, Max: 1 << 16}
			return succeeded(unix.Setrlimit(unix.RLIMIT_NOFILE, &l), "has")
		},
		"a setuid program of its own": setuid,
	} {
		ways[name] = try
	}
	ways["bomb: empty files"] = bombEmpty
}

// first is what the first of some files below a folder gives.
func first(folder string, try func(path string) string, names ...string) string {
	for _, name := range names {
		if got := try(folder + name); got != "" {
			return got
		}
	}
	return ""
}

// mounts finds a mount whose options are as they should not be, but those that a function may write.
func mounts(wrong func(options string) bool) func(*target) string {
	return func(*target) string {
		for at, options := range mountOptions() {
			if wrong(options) && at != "/tmp" && at != "/dev/shm" {
				return at + " is " + options
			}
		}
		for _, at := range []string{"/tmp", "/dev/shm"} {
			if !strings.Contains(mountOptions()[at], "nosuid") {
				return at + " has setuid programs"
			}
		}
		return ""
	}
}

func optionsOf(at string) string { return mountOptions()[at] }

func mountOptions() map[string]string {
	all := map[string]string{}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return all
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 5 {
			all[fields[4]] = fields[5]
		}
	}
	return all
}

// fileOf tells whether a file of another process can be opened for writing.
func fileOf(path string) string {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK, 0)
	_ = unix.Close(fd)
	return succeeded(err, "has opened %s", path)
}

func copies(pid int) string {
	var b [8]byte
	here := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, here, []unix.RemoteIovec{{Base: 4096, Len: 8}}, 0)
	return reached(err)
}

func ofProcess1(do func(fd int) error) string {
	fd, err := unix.PidfdOpen(1, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	return succeeded(do(fd), "has got it")
}

func traces(*target) string {
	cmd := exec.Command("/bin/sleep", "60")
	if cmd.Start() != nil {
		return ""
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	return succeeded(unix.PtraceSeize(cmd.Process.Pid), "traces it")
}

// addresses finds one that is not hidden.
func addresses(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		at, _, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if strings.Trim(at, "0-") != "" {
			return path + " has " + at
		}
	}
	return ""
}

func families(*target) string {
	for family := range 50 {
		switch family {
		case unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK:
			continue
		}
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			fd, err := unix.Socket(family, kind, 0)
			if err != unix.EPERM {
				_ = unix.Close(fd)
				return fmt.Sprintf("family %d, kind %d: %v", family, kind, err)
			}
			if _, err := unix.Socketpair(family, kind, 0); err != unix.EPERM && err != unix.EOPNOTSUPP &&
				err != unix.EAFNOSUPPORT {
				return fmt.Sprintf("a pair of family %d, kind %d: %v", family, kind, err)
			}
		}
	}
	return ""
}

// netlinks finds what the kernel tells or takes beside its routes.
func netlinks(*target) string {
	for protocol := 1; protocol < 32; protocol++ {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, protocol)
		if err == nil {
			_ = unix.Close(fd)
			return fmt.Sprint("has protocol ", protocol)
		}
	}
	return ""
}

// setuid makes a copy of a program that would be its owner's, and lets another owner have it.
func setuid(*target) string {
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		return ""
	}
	path := filepath.Join(os.TempDir(), "true")
	defer os.Remove(path)
	if os.WriteFile(path, text, 0o700) != nil || os.Chmod(path, 0o755|os.ModeSetuid) != nil {
		return ""
	}
	capability := binary.LittleEndian.AppendUint32(nil, 0x02000001) // of version 2, effective
	capability = append(capability, make([]byte, 16)...)
	if unix.Setxattr(path, "security.capability", capability, 0) == nil {
		return "gave it a capability"
	}
	return succeeded(os.Chown(path, 0, 0), "it is root's")
}

// tooManyEmpty is beyond a file for each 4 KiB of what the test gives as storage.
const tooManyEmpty = 3000

func bombEmpty(*target) string {
	dir := filepath.Join(os.TempDir(), "empty")
	defer os.RemoveAll(dir)
	if os.Mkdir(dir, 0o700) != nil {
		return ""
	}
	for n := range tooManyEmpty {
		fd, err := unix.Open(filepath.Join(dir, strconv.Itoa(n)), unix.O_CREAT|unix.O_WRONLY, 0o600)
		if err != nil {
			return ""
		}
		_ = unix.Close(fd)
	}
	return fmt.Sprintf("has made %d", tooManyEmpty)
}
