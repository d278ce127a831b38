// Package process starts the programs of instances, each in a process group of its own, and sees to it that none
// outlives its owner: not when the owner ends, and not when it is killed.
//
// Three things hold a program. The kernel kills it when the thread that started it ends (Linux), so every program is
// started by one thread that lives as long as the Starter. A guard, a shell that reads a pipe from us, is told of every
// group; when the pipe ends and it was not told to go, we were killed, and it kills what is left. And whoever has a
// control group for the program (package limit) tells the guard of that.
//
// Programs are started in a room of package isolate, or beside this process with all that it may do.
//
//	s := process.NewStarter(process.Config{})
//	c, err := s.Start(process.Program{Path: "/bin/sleep", Args: []string{"sleep", "10"}, Out: w})
//	…
//	c.Kill()
//	<-c.Done()
package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/isolate"
)

// Program is what is started.
type Program struct {
	Path string   // of the file
	Args []string // with the program's name first
	Dir  string
	Env  []string
	Out  *os.File // for what it prints, on both ways
	// Cgroup is an open folder of a version-2 control group to be born in; 0: none.
	Cgroup int
	// Room is where it is; nil: where we are, with what we may do.
	Room *isolate.Room
}

// Child is a started program.
type Child struct {
	Pid     int
	Started time.Time // right before it was started

	process *os.Process
	starter *Starter
	done    chan struct{}
	state   *os.ProcessState
	err     error
}

// ErrClosed is returned by a Starter that was closed.
var ErrClosed = errors.New("no program is started any more: the pool is closed")

// Starter starts programs. Its methods may be called concurrently.
type Starter struct {
	jobs  chan func()
	over  chan struct{}
	wait  sync.WaitGroup
	guard *guard
	// ways belong to the thread, but for what was found out; nil: nobody wanted them.
	ways *isolate.Ways

	mu       sync.Mutex
	closed   bool
	children map[*Child]struct{}
}

// Config is what a Starter needs.
type Config struct {
	// Cgroups are the folders of control groups whose members the guard kills, with the programs' own groups, when we
	// are killed.
	Cgroups []string
	// Rooms is an empty folder for package isolate; "": no rooms are made.
	Rooms string
}

// NewStarter begins. Guarded tells whether there is a guard.
func NewStarter(c Config) *Starter {
	s := &Starter{jobs: make(chan func()), over: make(chan struct{}), children: make(map[*Child]struct{})}
	s.guard = newGuard(c.Cgroups)
	s.wait.Add(1)
	ready := make(chan struct{})
	go s.run(c.Rooms, ready)
	<-ready
	return s
}

// Guarded tells whether somebody kills what is left when we are killed.
func (s *Starter) Guarded() bool { return s.guard != nil }

// run is the thread that starts programs: a program may be told to die with the thread that started it.
func (s *Starter) run(rooms string, ready chan<- struct{}) {
	defer s.wait.Done()
	runtime.LockOSThread() // and it is never unlocked, so that nobody else ends the thread
	if rooms != "" {
		s.ways = isolate.Probe(rooms)
	}
	close(ready)
	for {
		select {
		case job := <-s.jobs:
			job()
		case <-s.over:
			return
		}
	}
}

// do has the thread do something, and waits for it. The error is ErrClosed.
func (s *Starter) do(job func()) error {
	done := make(chan struct{})
	select {
	case s.jobs <- func() { defer close(done); job() }:
		<-done
		return nil
	case <-s.over:
		return ErrClosed
	}
}

// Isolation is what rooms can be like here. Without Config.Rooms all of it is missing.
func (s *Starter) Isolation() isolate.Abilities {
	if s.ways == nil {
		return isolate.Abilities{Missing: []string{"all of it: it is switched off"}}
	}
	return s.ways.Abilities
}

// Room makes a room for programs of one instance. Where none can be made the room is one in name only, or nil: see
// Isolation. Whoever gets it closes it.
func (s *Starter) Room(p isolate.Plan) (room *isolate.Room, err error) {
	switch {
	case s.ways == nil:
		return nil, nil
	case !s.ways.Room:
		return s.ways.Bare(), nil
	}
	if e := s.do(func() { room, err = s.ways.Open(p) }); e != nil {
		return nil, e
	}
	return room, err
}

// Listen listens in the network of a room.
func (s *Starter) Listen(room *isolate.Room) (l net.Listener, err error) {
	if e := s.do(func() { l, err = room.Listen() }); e != nil {
		return nil, e
	}
	return l, err
}

// start starts a program on the thread for that.
func (s *Starter) start(p *Program, files []*os.File) (*os.Process, error) {
	if p.Room == nil {
		return os.StartProcess(p.Path, p.Args, &os.ProcAttr{Dir: p.Dir, Env: p.Env, Files: files, Sys: attributes(p)})
	}
	pid, err := p.Room.Start(isolate.Program{Path: p.Path, Args: p.Args, Dir: p.Dir, Env: p.Env, In: int(files[0].Fd()),
		Out: int(files[1].Fd()), Cgroup: p.Cgroup})
	if err != nil {
		return nil, err
	}
	return os.FindProcess(pid)
}

// Start starts a program.
func (s *Starter) Start(p Program) (*Child, error) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", p.Path, err)
	}
	defer in.Close()
	c := &Child{starter: s, done: make(chan struct{})}
	e := s.do(func() {
		c.Started = time.Now()
		var process *os.Process
		if process, err = s.start(&p, []*os.File{in, p.Out, p.Out}); err == nil {
			c.process, c.Pid = process, process.Pid
			s.guard.add(c.Pid)
		}
	})
	if e != nil {
		return nil, e
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", p.Path, err)
	}
	s.mu.Lock()
	s.children[c] = struct{}{}
	closed := s.closed
	s.wait.Add(1)
	s.mu.Unlock()
	go c.wait()
	if closed {
		c.Kill()
	}
	return c, nil
}

// Close ends the Starter. Programs that still run are killed and waited for.
func (s *Starter) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.over)
	}
	for c := range s.children {
		c.killGroup()
	}
	s.mu.Unlock()
	s.wait.Wait()
	s.guard.close()
}

// wait waits for the end of the program, kills what it has left behind, and tells.
func (c *Child) wait() {
	defer c.starter.wait.Done()
	c.state, c.err = c.await()
	c.starter.guard.remove(c.Pid)
	c.starter.mu.Lock()
	delete(c.starter.children, c)
	c.starter.mu.Unlock()
	close(c.done)
}

// Done is closed when the program has ended and the rest of its group was killed.
func (c *Child) Done() <-chan struct{} { return c.done }

// How says how the program has ended: "exit status 1", "signal: killed". It is to be asked after Done.
func (c *Child) How() string {
	if c.err != nil {
		return c.err.Error()
	}
	return c.state.String()
}

// ExitCode is the program's exit code, or -1 when a signal ended it. It is to be asked after Done.
func (c *Child) ExitCode() int {
	if c.err != nil {
		return -1
	}
	return c.state.ExitCode()
}

// Kill kills the program and its group.
func (c *Child) Kill() {
	select {
	case <-c.done: // its number may be another's by now
	default:
		c.killGroup()
	}
}
