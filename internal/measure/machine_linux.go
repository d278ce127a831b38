package measure

import (
	"os"

	"golang.org/x/sys/unix"
)

func hardware() (cpu string, memory int64, kernel string) {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		cpu = cpuModel(string(text))
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		memory = int64(info.Totalram) * int64(info.Unit)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		kernel = unix.ByteSliceToString(name.Release[:])
	}
	return cpu, memory, kernel
}
