package machine

import "time"

// Room is what a disk has room for, in bytes.
type Room struct {
	All  int64
	Free int64 // of it what this process may use
}

// FreeBytes is the space of dir's disk that this process may use; known is false when it cannot be told. It takes as
// long as the disk does.
func FreeBytes(dir string) (n int64, known bool) {
	r, known := roomOf(dir)
	return r.Free, known
}

// Disk tells the room of a folder's disk to those who cannot wait for one that does not answer any more.
type Disk struct {
	look   func() (Room, bool)
	turn   chan struct{} // has what is below
	asking chan answer   // nil: nobody asks the disk
}

type answer struct {
	Room
	known bool
}

// NewDisk is the disk of a folder.
func NewDisk(dir string) *Disk { return newDisk(func() (Room, bool) { return roomOf(dir) }) }

func newDisk(look func() (Room, bool)) *Disk { return &Disk{look: look, turn: make(chan struct{}, 1)} }

// Room is the room of the disk; known is false when it cannot be told, or not within the patience. However often it is
// called, one goroutine asks the disk at a time.
func (d *Disk) Room(patience time.Duration) (r Room, known bool) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-late.C:
		return Room{}, false
	}
	if d.asking == nil {
		asking := make(chan answer, 1)
		d.asking = asking
		go func() {
			r, known := d.look()
			asking <- answer{r, known}
		}()
	}
	select {
	case a := <-d.asking:
		d.asking = nil
		return a.Room, a.known
	case <-late.C:
		return Room{}, false
	}
}
