package measure

import (
	"runtime"
	"strings"
)

// Machine says where something was measured. What cannot be found out is empty or 0.
type Machine struct {
	OS          string `json:"os"`   // as GOOS
	Arch        string `json:"arch"` // as GOARCH
	CPUs        int    `json:"cpus"` // that this process may use
	CPUModel    string `json:"cpu_model"`
	MemoryBytes int64  `json:"memory_bytes"` // of the whole machine
	Kernel      string `json:"kernel"`       // its release
	Go          string `json:"go"`           // the version this program was built with
}

// ThisMachine describes the machine the program runs on.
func ThisMachine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	m.CPUModel, m.MemoryBytes, m.Kernel = hardware()
	return m
}

// cpuModel finds the processor's name in the text of /proc/cpuinfo, whose fields differ between architectures.
func cpuModel(cpuinfo string) string {
	found := make(map[string]string)
	for line := range strings.Lines(cpuinfo) {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if _, known := found[name]; ok && !known && value != "" {
			found[name] = value
		}
	}
	for _, name := range []string{"model name", "Model Name", "cpu model", "Model", "Hardware", "Processor", "uarch",
		"cpu"} {
		if found[name] != "" {
			return found[name]
		}
	}
	if part := found["CPU part"]; part != "" {
		return "implementer " + found["CPU implementer"] + " part " + part
	}
	return ""
}
