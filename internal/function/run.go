package function

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/limit"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/function/process"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

func newInstanceID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// run is the life of an instance, from its first program to its last.
func (i *instance) run() {
	f := i.fn
	defer f.pool.wait.Done()
	defer f.release()
	i.mu.Lock()
	i.timer = time.AfterFunc(time.Hour, i.expire)
	i.timer.Stop()
	c := i.call
	i.began = time.Now()
	i.mu.Unlock()
	err, kind := i.open(), errorUnknown
	if c != nil {
		i.mu.Lock()
		i.start(c, i.began)
		i.mu.Unlock()
	}
	if err == nil {
		err, kind = i.spawn(), errorEntry
	}
	if err != nil {
		i.cannotStart(kind, err)
		i.undo()
	} else {
		i.watch()
	}
	i.close()
	f.leave(i)
}

// open makes what an instance has beside its programs.
func (i *instance) open() error {
	f := i.fn
	i.temp = filepath.Join(f.pool.config.Dir, "instances", i.id)
	var writer *os.File
	var err error
	if i.pipe, writer, err = logbook.NewPipe(i.printed); err != nil {
		return err
	}
	i.writer = writer
	if err := os.Mkdir(i.temp, 0o700); err != nil {
		return fmt.Errorf("cannot make a folder for temporary files: %w", err)
	}
	var listener net.Listener
	if f.pool.config.Network == NoNetwork {
		if listener, err = i.listenInside(); err != nil {
			return err
		}
	}
	if i.server, err = runtimeapi.Listen(runtimeapi.Config{Handler: i, Listener: listener,
		Extensions: i.extensionNames(), Function: f.d.Name, Version: f.d.Version,
		HandlerName: f.d.Handler, Account: f.pool.config.Account, Refuse: i.refuse()}); err != nil {
		return err
	}
	if f.pool.limits != nil {
		if i.group, err = f.pool.limits.Group(i.id,
			limit.Share{MemoryBytes: int64(f.d.MemoryMB) << 20, CPUs: i.cpus(i.call == nil),
				Tasks: maxTasks}); err != nil {
			i.note("LIMIT\tnone: " + err.Error())
		}
	}
	return nil
}

// maxTasks is how many processes and threads an instance has at most, as the provider has it.
const maxTasks = 1024

// cpus is the instance's share of the processors; starting ones get a whole one at least, unless they are provisioned
// or started for an invocation, as the provider has it.
func (i *instance) cpus(starting bool) float64 {
	share := limit.CPUs(i.fn.d.MemoryMB)
	if starting && !i.provisioned && !i.fn.pool.config.NoBoost {
		return max(share, 1)
	}
	return share
}

// settleDown gives the instance its own share of the processors after it has started.
func (i *instance) settleDown() {
	if i.group == nil || i.fn.pool.config.NoBoost || i.cpus(true) == i.cpus(false) {
		return
	}
	if err := i.group.SetCPU(i.cpus(false)); err != nil {
		i.note("LIMIT\t" + err.Error())
	}
}

// spawn starts the programs: the extensions, then the runtime.
func (i *instance) spawn() error {
	f := i.fn
	defer i.writer.Close() // the programs have it
	start, err := f.program(i.tempInside())
	if err != nil {
		return err
	}
	if i.room == nil {
		if err := i.enclose(start.Path); err != nil {
			return err
		}
	}
	env := i.environment(start.Env)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead {
		return ErrClosed
	}
	i.began = time.Now()
	for _, path := range i.extensionFiles() {
		e, err := i.child(process.Program{Path: path, Args: []string{path}, Dir: filepath.Dir(path), Env: env,
			Out: i.writer, Room: i.room})
		if err != nil {
			return fmt.Errorf("cannot start an extension: %w", err)
		}
		i.extensions = append(i.extensions, e)
	}
	if i.main, err = i.child(process.Program{Path: start.Path, Args: start.Args, Dir: f.deployed.Dir, Env: env,
		Out: i.writer, Room: i.room}); err != nil {
		return err
	}
	i.pid.Store(int64(i.main.Pid))
	if i.call == nil && !i.ready {
		i.timer.Reset(f.d.InitTimeout)
	}
	return nil
}

// child starts one program in the instance's control group.
func (i *instance) child(p process.Program) (*process.Child, error) {
	if i.group != nil {
		p.Cgroup = i.group.Descriptor()
	}
	c, err := i.fn.pool.starter.Start(p)
	if err != nil {
		return nil, err
	}
	if i.group != nil {
		// Where it cannot be born in all of its control groups, the kernel takes its time; the program need not wait
		// for that.
		i.joining.Go(func() {
			if err := i.group.Add(c.Pid); err != nil {
				i.note("LIMIT\t" + err.Error())
			}
		})
	}
	return c, nil
}

// cannotStart ends an instance that could not be made, or whose programs could not be started.
func (i *instance) cannotStart(kind string, err error) {
	if errors.Is(err, ErrClosed) || errors.Is(err, process.ErrClosed) {
		if c := i.drop(); c != nil {
			i.fn.leave(i)
			c.fail(ErrClosed)
		}
		return
	}
	text := "function " + i.fn.d.Name + ": " + err.Error() + remedy(err)
	i.note("INIT\t" + text)
	o := failed(time.Now(), statusError, kind, text)
	i.initFailed(statusError, &o.answer)
}

// undo ends what was started before the program that could not be.
func (i *instance) undo() {
	if i.group != nil {
		i.group.Kill()
	}
	for _, e := range i.extensions {
		e.Kill()
		<-e.Done()
	}
}

// drop ends the instance without a word and returns its invocation.
func (i *instance) drop() *call {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.call
	i.call, i.dead = nil, true
	return c
}

// watch waits until the runtime, or an extension, has ended or is asked to end, and ends all of them.
func (i *instance) watch() {
	ended := make(chan *process.Child, 1+len(i.extensions))
	for _, c := range append([]*process.Child{i.main}, i.extensions...) {
		i.fn.pool.wait.Add(1)
		go func() {
			defer i.fn.pool.wait.Done()
			<-c.Done()
			ended <- c
		}()
	}
	reason := shutdownFailure
	running := 1 + len(i.extensions)
	select {
	case c := <-ended:
		running--
		i.ended(c)
	case reason = <-i.stopping:
	}
	if len(i.extensions) > 0 {
		running -= i.sayGoodbye(reason, ended, running)
	}
	i.kill()
	for ; running > 0; running-- {
		<-ended
	}
}

// goodbye is how long the programs of an instance with extensions have to end by themselves, as the provider has it.
const goodbye = 2 * time.Second

// sayGoodbye lets the runtime and the extensions end by themselves, and returns how many did.
func (i *instance) sayGoodbye(reason string, ended <-chan *process.Child, running int) (n int) {
	if i.server.Shutdown(reason, time.Now().Add(goodbye)) == 0 {
		return 0
	}
	if reason == shutdownSpindown {
		i.main.Terminate()
	} else {
		i.main.Kill()
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	for n < running {
		select {
		case <-ended:
			n++
		case <-ctx.Done():
			return n
		}
	}
	return n
}

// kill kills every program of the instance.
func (i *instance) kill() {
	if i.group != nil {
		i.group.Kill()
	}
	i.main.Kill()
	for _, e := range i.extensions {
		e.Kill()
	}
}

// ended is told of a program that ended by itself.
func (i *instance) ended(c *process.Child) {
	kind, message := errorExit, "Runtime exited with error: "+c.How()
	switch {
	case c != i.main:
		kind, message = errorExtension, "An extension exited: "+c.How()
	case i.group != nil && i.group.OutOfMemory():
		kind, message = errorMemory, "Runtime exited with error: "+c.How()+" (it wanted more than its "+
			strconv.Itoa(i.fn.d.MemoryMB)+" MB"+i.counts()+")"
	case c.ExitCode() == 0:
		message = "Runtime exited without providing a reason"
	}
	now := time.Now()
	i.mu.Lock()
	if i.dead {
		i.mu.Unlock()
		return
	}
	inv := i.call
	if !i.ready {
		broken := i.broken
		i.mu.Unlock()
		if broken == nil {
			o := failed(now, statusError, kind, request(inv)+"Error: "+message)
			broken = &o.answer
		}
		i.initFailed(statusError, broken)
		return
	}
	i.call, i.dead = nil, true
	i.mu.Unlock()
	i.fn.leave(i)
	if inv != nil {
		i.complete(inv, failed(now, statusError, kind, request(inv)+"Error: "+message))
	}
}

func request(c *call) string {
	if c == nil {
		return ""
	}
	return "RequestId: " + c.inv.ID + " "
}

// drain reads what the programs have printed so far.
func (i *instance) drain() {
	if i.pipe != nil { // an instance that could not be made has none
		i.pipe.Drain()
	}
}

// givenAt is when the invocation was handed over; zero: it was not.
func (i *instance) givenAt(c *call) time.Time {
	if i.server == nil { // an instance that could not be made has none
		return time.Time{}
	}
	return i.server.GivenAt(&c.inv)
}

// close ends what an instance has beside its programs, which have ended.
func (i *instance) close() {
	i.timer.Stop()
	i.joining.Wait()
	if i.room != nil {
		i.room.Close() // and whoever is left in it is gone
	}
	if i.writer != nil {
		_ = i.writer.Close() // it may be closed already
	}
	if i.pipe != nil {
		i.pipe.Drain()
		i.pipe.Close(true) // a program that has run away may hold it
	}
	if i.server != nil {
		i.server.Close()
	}
	if i.group != nil {
		i.group.Close()
	}
	_ = os.RemoveAll(i.temp) // the pool's end removes what is left
}

// note writes a line of ours that belongs to no invocation, or to that which the instance is started for.
func (i *instance) note(text string) {
	l := logbook.Line{Time: time.Now(), Instance: i.id, Text: text, Ours: true}
	if c := i.current.Load(); c != nil {
		l.Request = c.inv.ID
		c.tail.add(text)
	}
	i.fn.book.Add(l)
}

// printed takes a line that a program has printed.
func (i *instance) printed(text string) {
	l := logbook.Line{Time: time.Now(), Instance: i.id, Text: text}
	if c := i.current.Load(); c != nil {
		l.Request = c.inv.ID
		c.tail.add(text)
	}
	i.fn.book.Add(l)
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }
