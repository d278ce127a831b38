package measure

import "golang.org/x/sys/unix"

// hardware leaves empty what the system does not tell.
func hardware() (cpu string, memory int64, kernel string) {
	cpu, _ = unix.Sysctl("machdep.cpu.brand_string")
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		memory = int64(n)
	}
	kernel, _ = unix.Sysctl("kern.osrelease")
	return cpu, memory, kernel
}
