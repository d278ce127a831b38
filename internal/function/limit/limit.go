// Package limit holds the programs of an instance in control groups: so much memory, so much of the processors, frozen
// and thawed, killed as one. It takes what the machine gives it: version 2 or version 1, some controllers or none.
//
//	root := limit.Open()
//	defer root.Close()
//	g, err := root.Group("instance-1", limit.Share{MemoryBytes: 128 << 20, CPUs: 0.07, Tasks: 1024})
//	// start a program with g.Descriptor() as its group of birth, then:
//	err = g.Add(pid)
//	g.Peak()   // bytes
//	g.Kill()
//
// Address-space limits (ulimit -v) are no substitute: the virtual machines of Java, Node.js and Go reserve far more
// than they use. Where there is no control group to be had there is no limit, and What says so.
package limit

// What tells what can be limited here.
type What struct {
	Memory bool // a group gets no more than it was given
	CPU    bool
	Tasks  bool // no more processes and threads than it may have
	Freeze bool
	Kill   bool // all at once, whatever they have forked
	Why    string
}

// Share is what a group gets.
type Share struct {
	MemoryBytes int64
	CPUs        float64 // how many processors; 0: as many as there are
	Tasks       int     // processes and threads
}

// The provider gives one whole processor to 1,769 MiB, and a share in proportion to less or more.
const megabytesOfACPU = 1769

// CPUs is how many processors a function of so many MiB has.
func CPUs(memoryMB int) float64 { return float64(memoryMB) / megabytesOfACPU }
