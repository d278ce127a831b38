// Package isolate gives the programs of an instance a room of their own on Linux: a user, files, processes, shared
// memory and a host name that are not the machine's, no privilege that they could gain, and a filter of system calls.
// It needs no container engine and no second program.
//
//	ways := isolate.Probe(dir)                          // what this machine permits, tried
//	room, err := ways.Open(isolate.Plan{…})             // namespaces, with a file system made of what the Plan names
//	pid, err := room.Start(isolate.Program{Path: …})    // as often as there are programs
//	room.Close()                                        // kills them all
//
// A room is held by cat, which waits for the end of a pipe: process 1 in it, so that the kernel kills everybody in the
// room when it ends, and it ends when this process does. Nothing is started in between that costs time: children of a
// vfork make a list of system calls, made up before, and become the program.
//
// What a room does not do: it limits neither memory nor processors (package limit does), and its network is the
// machine's unless the Plan says otherwise.
package isolate

import (
	"errors"
	"strings"
)

// Plan is what a room looks like.
type Plan struct {
	// Code is the folder of the function's code, seen where it lies and as /var/task.
	Code string
	// Layers are folders seen together as /opt, the files of the first one before those of the others, and where they
	// lie.
	Layers []string
	// Programs are files that are started in the room. They are seen, with the folder that they were installed in.
	Programs []string
	// See are more files and folders of the machine that are seen where they lie. All of it can be read alone.
	See []string
	// Hide are files and folders of the machine that are not seen, whatever lies around them.
	Hide []string
	// TempBytes is the size of /tmp, a file system in memory.
	TempBytes int64
	// User is whom programs are in the eyes of the machine, where this process may choose; else they are whom this
	// process is.
	User int
	// Tasks is how many processes and threads User may have; 0: something else bounds them.
	Tasks int
	// Alone gives the room a network of its own, in which there is nothing but itself; else it has the machine's.
	Alone bool
	// Memo, if it is not nil, keeps what was found out of the machine's files for this Plan, so that its next room
	// costs less. It is for rooms of one Plan alone.
	Memo *Memo
}

// Program is what is started in a room. Nothing of this process is left to it but Out.
type Program struct {
	Path string
	Args []string // with the program's name first
	Dir  string
	Env  []string
	In   int // open files
	Out  int
	// Cgroup is an open folder of a version-2 control group to be born in; 0: none.
	Cgroup int
}

// Abilities are what this machine permits, as it was tried.
type Abilities struct {
	Room    bool // own files, processes and shared memory
	OwnUser bool // programs are another user than this process in the eyes of the machine
	Proc    bool // with a /proc of their own
	Filter  bool // system calls are filtered
	Alone   bool // a network of their own
	Scoped  bool // sockets without a name in the file system are closed as well
	// Missing says what is not permitted, and why. Without an entry isolation is full.
	Missing []string
}

// Full tells whether nothing is missing.
func (a *Abilities) Full() bool { return len(a.Missing) == 0 }

// String says what is missing.
func (a *Abilities) String() string { return strings.Join(a.Missing, "; ") }

// ErrNoRoom is wrapped by errors about rooms that cannot be made.
var ErrNoRoom = errors.New("the function cannot have a room of its own")
