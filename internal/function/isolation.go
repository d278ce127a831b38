package function

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/function/isolate"
	"github.com/hikyaku/hikyaku/internal/function/process"
)

// Isolation says how far instances have to be kept apart from the machine and from each other.
type Isolation string

// The kinds of Isolation.
const (
	Possible Isolation = ""     // as far as this machine permits
	Full     Isolation = "full" // wholly: where something is missing, nothing is deployed
	None     Isolation = "none" // not at all: functions may do what this process may
)

// Network is what instances reach beside their Runtime API.
type Network string

// The kinds of Network.
const (
	Outside   Network = ""     // what this process reaches
	NoNetwork Network = "none" // nothing but themselves
)

// ErrNotIsolated is wrapped by errors about functions that this machine cannot keep apart, though they have to be.
var ErrNotIsolated = errors.New("functions cannot be isolated on this machine")

// isolated is an error if functions have to be kept apart and cannot be.
func (p *Pool) isolated() error {
	if a := p.starter.Isolation(); p.config.Isolation == Full && !a.Full() {
		return fmt.Errorf("%w: missing: %s (permit it, or set api: lambda: isolation: none if whoever may deploy a "+
			"function may do all that hikyaku may)", ErrNotIsolated, &a)
	}
	if p.config.Network == NoNetwork && !p.starter.Isolation().Alone {
		return fmt.Errorf("%w: api: lambda: network: none needs a network of its own for each instance, which this "+
			"machine does not permit, or isolation: none does not give", ErrNotIsolated)
	}
	return nil
}

// readable refuses folders that a function could not read as the user that it will be.
func (p *Pool) readable(d *Definition, dir string) error {
	if !p.starter.Isolation().OwnUser {
		return nil
	}
	for i, folder := range append([]string{dir}, d.Layers...) {
		info, err := os.Stat(folder)
		if err != nil || info.Mode().Perm()&0o005 == 0o005 {
			continue
		}
		field := "code"
		if i > 0 {
			field = "layers"
		}
		return &DefinitionError{d.Name, field, fmt.Sprintf("%s is closed to other users, and an isolated function is "+
			"one: chmod -R o+rX %s, or give it as an archive", folder, folder)}
	}
	return nil
}

// Probe finds out what a pool could give instances on this machine, without making one. dir is a folder that may be
// made and is removed.
func Probe(dir string) (isolate.Abilities, error) {
	dir, err := filepath.Abs(dir) // a root is put together by its whole path
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return isolate.Abilities{}, fmt.Errorf("try how functions can be isolated: %w", err)
	}
	s := process.NewStarter(process.Config{Rooms: dir})
	s.Close()
	return s.Isolation(), os.Remove(dir)
}

// Users of the machine that functions are: beyond those of systems, people and containers.
const (
	firstUser = 1_900_000_000
	userSpan  = 10_000
)

// user is whom the programs of a function are in the eyes of the machine, where they can be somebody else. p.mu is
// held.
func (p *Pool) user(name string) int {
	id, ok := p.users[name]
	if !ok {
		id = firstUser + os.Getpid()%userSpan*userSpan + len(p.users)%userSpan
		p.users[name] = id
	}
	return id
}

// refuse tells of connections to the instance's endpoint whether they are of another account than its programs and this
// process: whoever reaches it could take events and answer them. nil: this system does not tell whose a connection is.
func (i *instance) refuse() func(net.Conn) bool {
	p := i.fn.pool
	if p.config.Network == NoNetwork { // nobody else is there
		return nil
	}
	if !p.known() {
		return nil
	}
	allowed := []uint32{uint32(os.Geteuid())}
	if p.starter.Isolation().OwnUser {
		allowed = append(allowed, uint32(i.fn.user))
	}
	var once sync.Once
	return func(c net.Conn) bool {
		uid, err := caller.Of(c).Account()
		if err == nil && slices.Contains(allowed, uid) {
			return false
		}
		once.Do(func() {
			if err == nil {
				err = fmt.Errorf("it is of the account with uid %d", uid)
			}
			i.note("ISOLATION\tA connection to the Runtime API was refused: " + err.Error())
		})
		return true
	}
}

// tasksOfUser is how many processes and threads a function has at most, in all of its instances, where no control group
// counts those of each.
const tasksOfUser = 4 * maxTasks

// plan is what a room for an instance is like.
func (f *function) plan(program string) isolate.Plan {
	c := &f.pool.config
	layers := slices.Clone(f.d.Layers)
	slices.Reverse(layers)
	p := isolate.Plan{
		Code: f.deployed.Dir, Layers: layers, Programs: []string{program}, TempBytes: int64(f.d.StorageMB) << 20,
		User: f.user,
		See:  append([]string{filepath.Join(c.Dir, "loaders")}, c.See...), Hide: append([]string{c.Dir}, c.Hide...),
		Alone: c.Network == NoNetwork, Memo: &f.memo,
	}
	if f.interpreter != "" {
		p.Programs = append(p.Programs, f.interpreter)
	}
	if f.pool.limits == nil || !f.pool.limits.What().Tasks {
		p.Tasks = maxTasks // the namespace of users has its own count
		if f.pool.starter.Isolation().OwnUser {
			p.Tasks = tasksOfUser
		}
	}
	return p
}

// enclose makes the room for the programs of the instance, as far as there are rooms here.
func (i *instance) enclose(program string) error {
	f := i.fn
	room, err := f.room(f.plan(program))
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.room = room
	i.mu.Unlock()
	if i.apart() && len(f.d.Layers) > 0 && !room.Opt {
		i.note("ISOLATION\tThe layers are not at /opt: the system does not lay folders over each other here.")
	}
	return nil
}

// listenInside makes the room of an instance without a network, and listens in it.
func (i *instance) listenInside() (net.Listener, error) {
	start, err := i.fn.program(i.tempInside())
	if err != nil {
		return nil, err
	}
	if err := i.enclose(start.Path); err != nil {
		return nil, err
	}
	return i.fn.pool.starter.Listen(i.room)
}

// apart tells whether the instance has a room of its own.
func (i *instance) apart() bool { return i.room != nil && i.room.Pid != 0 }

// tempInside is the folder of its temporary files as its programs see it.
func (i *instance) tempInside() string {
	if i.fn.pool.starter.Isolation().Room {
		return "/tmp"
	}
	return i.temp
}
