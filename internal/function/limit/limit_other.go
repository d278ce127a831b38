//go:build !linux

package limit

// Root is where control groups would be; there are none on this system.
type Root struct{}

// Group is what a control group would be.
type Group struct{}

// Open finds nothing here.
func Open() *Root { return &Root{} }

// What tells that there is nothing.
func (*Root) What() What { return What{Why: "control groups are a part of Linux"} }

// Folders are none.
func (*Root) Folders() []string { return nil }

// Close does nothing.
func (*Root) Close() error { return nil }

// Group makes a group that limits nothing.
func (*Root) Group(string, Share) (*Group, error) { return &Group{}, nil }

// Descriptor is 0: no group to be born in.
func (*Group) Descriptor() int { return 0 }

// Add does nothing.
func (*Group) Add(int) error { return nil }

// SetCPU does nothing.
func (*Group) SetCPU(float64) error { return nil }

// Peak is unknown.
func (*Group) Peak() int64 { return 0 }

// OutOfMemory is never known.
func (*Group) OutOfMemory() bool { return false }

// Freeze does nothing; it tells so.
func (*Group) Freeze(bool) bool { return false }

// Kill does nothing; it tells so.
func (*Group) Kill() bool { return false }

// Close does nothing.
func (*Group) Close() {}
