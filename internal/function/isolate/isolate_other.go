//go:build !linux || !(amd64 || arm64)

package isolate

import (
	"errors"
	"net"
)

// Ways are how rooms are made; here there are none.
type Ways struct{ Abilities }

// Room is where the programs of an instance would be.
type Room struct {
	Opt bool
	Pid int
}

// Memo keeps nothing here.
type Memo struct{}

// Probe says that there are no rooms here.
func Probe(string) *Ways {
	return &Ways{Abilities{Missing: []string{"all of it: it is made for Linux on amd64 and arm64"}}}
}

var errNone = errors.New("there are no rooms on this system")

// Open makes no room, and says so.
func (w *Ways) Open(Plan) (*Room, error) { return nil, errors.Join(ErrNoRoom, errNone) }

// Bare is nothing here.
func (w *Ways) Bare() *Room { return nil }

// Start starts nothing.
func (r *Room) Start(Program) (int, error) { return 0, errNone }

// Listen listens nowhere.
func (r *Room) Listen() (net.Listener, error) { return nil, errNone }

// Usable says that nothing can be started.
func (r *Room) Usable() bool { return false }

// Close does nothing.
func (r *Room) Close() {}
