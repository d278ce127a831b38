//go:build amd64 || arm64

package isolate

import "golang.org/x/sys/unix"

// refused are system calls that no function needs and that have been ways out of namespaces: they answer EPERM. It is a
// list of what is refused, not of what is permitted, so that runtimes of tomorrow run.
var refused = append([]uint32{
	// other processes, and what the kernel tells about them
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_PROCESS_MADVISE,
	// namespaces and mounts
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_TREE_ATTR,
	// files around their names
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_FANOTIFY_INIT,
	// keys, programs in the kernel, its events, faults served by a program, requests that go around this list
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// the machine
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL, unix.SYS_MBIND,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
}, refusedHere...)

const (
	seccompAllow = unix.SECCOMP_RET_ALLOW
	seccompDeny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	seccompNone  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

	// in struct seccomp_data; the lower half of an argument
	offsetNumber, offsetMachine, offsetFirst, offsetSecond, offsetThird = 0, 4, 16, 24, 32

	newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
)

// filter is the program that the kernel runs at each system call of a function.
func filter() []unix.SockFilter {
	var p []unix.SockFilter
	load := func(offset uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
	}
	// when answers a call if the accumulator compares to k.
	when := func(compare uint16, k, answer uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: answer})
	}
	// among checks one argument of one call, and permits the call when none of the checks answers.
	among := func(number, offset uint32, checks func()) {
		load(offsetNumber)
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number})
		at := len(p) - 1
		load(offset)
		checks()
		p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompAllow})
		p[at].Jf = uint8(len(p) - 1 - at)
	}
	// of answers a call for a socket of a family: these protocols are permitted.
	of := func(family uint32, protocols ...uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: family,
			Jf: uint8(2*len(protocols) + 2)})
		load(offsetThird)
		for _, protocol := range protocols {
			when(unix.BPF_JEQ, protocol, seccompAllow)
		}
		p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompDeny})
	}
	load(offsetMachine)
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: machine, Jt: 1},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompNone}) // another machine's calls have other numbers
	load(offsetNumber)
	if x32 != 0 {
		when(unix.BPF_JSET, x32, seccompNone)
	}
	for _, nr := range refused {
		when(unix.BPF_JEQ, nr, seccompDeny)
	}
	when(unix.BPF_JEQ, unix.SYS_CLONE3, seccompNone) // its flags cannot be seen from here; C libraries then use clone
	among(unix.SYS_CLONE, offsetFirst, func() { when(unix.BPF_JSET, newNamespaces, seccompDeny) })
	among(unix.SYS_IOCTL, offsetSecond, func() {
		for _, request := range []uint32{unix.TIOCSTI, 0x541C /* TIOCLINUX */, unix.TIOCSETD} {
			when(unix.BPF_JEQ, request, seccompDeny)
		}
	})
	among(unix.SYS_PERSONALITY, offsetFirst, func() {
		when(unix.BPF_JEQ, 0, seccompAllow)
		when(unix.BPF_JEQ, 0xffffffff, seccompAllow)
		when(unix.BPF_JEQ, 0x40000 /* ADDR_NO_RANDOMIZE */, seccompAllow)
		p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompDeny})
	})
	for _, call := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		among(call, offsetFirst, func() {
			when(unix.BPF_JEQ, unix.AF_UNIX, seccompAllow)
			of(unix.AF_NETLINK, unix.NETLINK_ROUTE) // what interfaces there are, as C libraries ask
			for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
				of(family, 0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6,
					unix.IPPROTO_MPTCP)
			}
			p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompDeny})
		})
	}
	return append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompAllow})
}
