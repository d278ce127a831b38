package function

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/limit"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/function/process"
)

// Config is what a Pool needs. Only Dir has no default.
type Config struct {
	// Dir is a folder for unpacked code and temporary files. It belongs to the pool alone, which empties it when it
	// begins.
	Dir         string
	Region      string     // "": us-east-1
	Account     string     // "": 000000000000
	Concurrency int        // how many invocations may run at once in all; 0: 1,000
	Bill        bill.Rules // zero: today's
	LogBytes    int        // how much of each function's log is kept in memory; 0: 1 MiB
	CodeLimits  code.Limits
	// Unlimited starts programs without control groups: neither memory nor processors are limited.
	Unlimited bool
	// Isolation says how far instances have to be kept apart from the machine and from each other.
	Isolation Isolation
	// Network is what instances reach. Where it cannot be so, nothing is deployed.
	Network Network
	// See are files and folders of the machine that isolated instances see, too, and can read; Hide are those that they
	// do not see, whatever lies around them.
	See, Hide []string
	// NoBoost leaves an instance its own share of the processors while it starts, where the provider gives it a whole
	// one at least.
	NoBoost bool
}

// Pool runs functions. Its methods may be called concurrently.
type Pool struct {
	config  Config
	began   time.Time
	limits  *limit.Root // nil: none
	starter *process.Starter
	wait    sync.WaitGroup // for everything that runs on its own
	known   func() bool    // whether this system tells whose connections are

	unreserved atomic.Int64 // invocations of functions without a reserved concurrency
	number     atomic.Uint64
	spares     spares
	vacancy    vacancy // for those who wait until they are not throttled

	mu        sync.Mutex
	closed    bool
	functions map[key]*function
	versions  map[string]string       // of interpreters, by their family and path
	users     map[string]int          // of the machine, by the function's name
	reserved  map[string]*reservation // by the function's name
	shared    int                     // of the concurrency, what nobody has reserved
}

// key names a version of a function.
type key struct{ name, version string }

// New makes a pool without functions.
func New(c Config) (*Pool, error) {
	if c.Dir == "" {
		return nil, errors.New("a function pool needs a folder for code and temporary files")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find the functions' folder: %w", err)
	}
	c.Dir = dir
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Account == "" {
		c.Account = "000000000000"
	}
	if c.Concurrency == 0 {
		c.Concurrency = 1000
	}
	if c.LogBytes == 0 {
		c.LogBytes = 1 << 20
	}
	if err := occupy(dir); err != nil {
		return nil, err
	}
	if err := loader.Write(filepath.Join(dir, "loaders")); err != nil {
		return nil, err
	}
	p := &Pool{config: c, began: time.Now(), functions: make(map[key]*function), users: make(map[string]int),
		versions: make(map[string]string), reserved: make(map[string]*reservation), shared: c.Concurrency}
	var groups []string
	if !c.Unlimited {
		p.limits = limit.Open()
		groups = p.limits.Folders()
	}
	starter := process.Config{Cgroups: groups}
	if c.Isolation != None {
		starter.Rooms = filepath.Join(dir, "room")
	}
	p.starter = process.NewStarter(starter)
	p.known = sync.OnceValue(func() bool { return caller.Supported && caller.Probe(context.Background()) == nil })
	return p, nil
}

// What a pool has in its folder: a mark that it is a pool's, and what it removes when it begins and ends.
const mark = "function-pool"

var folders = [...]string{"code", "instances", "loaders", "room"}

// occupy makes a folder a pool's and empties it. One that has other things in it is left alone.
func occupy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot look into the functions' folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, mark)); err != nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s has something in it (%s) and was not made by a function pool, which would "+
			"empty it: give it an empty one", dir, entries[0].Name())
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the functions' folder: %w", err)
	}
	text := "This folder belongs to hikyaku, which empties it: unpacked code and temporary files of functions.\n"
	if err := os.WriteFile(filepath.Join(dir, mark), []byte(text), 0o644); err != nil {
		return fmt.Errorf("cannot mark the functions' folder: %w", err)
	}
	for _, name := range folders {
		sub := filepath.Join(dir, name)
		if err := os.RemoveAll(sub); err != nil {
			return fmt.Errorf("cannot empty the functions' folder: %w", err)
		}
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return fmt.Errorf("cannot make the functions' folder: %w", err)
		}
	}
	return nil
}

// Deployed is what became of a definition.
type Deployed struct {
	Definition Definition // with its defaults filled in
	ARN        string
	Dir        string // where the code lies
	CodeSize   int64  // of the archive, in bytes; 0 for a folder
	CodeSHA256 string // of the archive, in base64; "" for a folder
	Changed    time.Time
	// Warning says that the runtime is of another version than its name asks for; "": it is not, or does not tell.
	Warning string
}

// Deploy makes a function, or puts a new definition in the place of the one with the same name and version: invocations
// that run end in the old instances, the next ones go to new ones. The code is unpacked before anything changes. A
// definition that cannot be is a *DefinitionError; errors about code wrap those of package code, errors about what this
// machine lacks wrap loader.ErrMissing.
func (p *Pool) Deploy(d Definition) (Deployed, error) {
	if err := d.complete(); err != nil {
		return Deployed{}, err
	}
	if err := p.isolated(); err != nil {
		return Deployed{}, fmt.Errorf("function %s: %w", d.Name, err)
	}
	dir := filepath.Join(p.config.Dir, "code", d.Name+"-"+strconv.FormatUint(p.number.Add(1), 10))
	placed, err := code.Place(dir, d.Code, p.config.CodeLimits)
	if err != nil {
		return Deployed{}, fmt.Errorf("function %s: %w", d.Name, err)
	}
	d.Code.Zip = nil // it may be large, and lies in its folder now
	if d.Layers, err = p.unpackLayers(d.Layers, placed.Bytes, dir); err != nil {
		err = fmt.Errorf("function %s: %w", d.Name, err)
	}
	f := newFunction(p, d, placed)
	if err == nil {
		err = p.readable(&d, placed.Dir)
	}
	if err != nil {
		f.removeCode()
		return Deployed{}, err
	}
	if f.interpreter, err = loader.Interpreter(d.Runtime, f.asking()); err == nil {
		_, err = f.program("")
	}
	if err != nil {
		f.removeCode()
		return Deployed{}, fmt.Errorf("function %s: %w", d.Name, err)
	}
	f.deployed.Warning = p.warning(f)
	old, err := p.enter(f)
	if err != nil {
		f.removeCode()
		return Deployed{}, err
	}
	defer p.wait.Done()
	if old != nil {
		old.end()
	}
	f.begin()
	f.prepare()
	return f.deployed, nil
}

// asking is the folder in which a runtime is asked who it is. That runs outside of any room, as this process, and what
// lies in the folder may choose the program, as version managers have it. An operator's folder may; an archive is of
// whoever has deployed it.
func (f *function) asking() string {
	if f.deployed.CodeSHA256 == "" {
		return f.deployed.Dir
	}
	return f.pool.config.Dir
}

// warning says that a function runs on another version than the name of its runtime asks for.
func (p *Pool) warning(f *function) string {
	want := loader.Wanted(f.d.Runtime)
	if want == "" || f.interpreter == "" {
		return ""
	}
	family := loader.Family(f.d.Runtime)
	at := family + " " + f.interpreter
	p.mu.Lock()
	have, known := p.versions[at]
	p.mu.Unlock()
	if !known {
		have = loader.Version(f.d.Runtime, f.interpreter, f.asking())
		p.mu.Lock()
		p.versions[at] = have
		p.mu.Unlock()
	}
	if have == "" || have == want {
		return ""
	}
	return fmt.Sprintf("%s asks for %s %s, and it runs on %s %s (%s): install the one that it asks for, or name the "+
		"one that is there", f.d.Runtime, family, want, family, have, f.interpreter)
}

// enter puts a function on the list and returns the one that it replaces, whose log goes on. It is counted in p.wait.
func (p *Pool) enter(f *function) (*function, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("function %s cannot be deployed: %w", f.d.Name, ErrClosed)
	}
	k := key{f.d.Name, f.d.Version}
	old := p.functions[k]
	if err := p.reserve(&f.d); err != nil {
		return nil, err
	}
	p.functions[k] = f
	f.user = p.user(f.d.Name)
	if old != nil {
		f.book = old.book
	}
	p.wait.Add(1)
	return old, nil
}

// Remove ends a version of a function: what waits is refused, what runs goes on to its end. An error wraps ErrUnknown.
func (p *Pool) Remove(name, version string) error {
	f, err := p.find(name, version)
	if err != nil {
		return err
	}
	p.mu.Lock()
	k := key{f.d.Name, f.d.Version}
	if p.functions[k] == f {
		delete(p.functions, k)
		p.unreserve(name)
	}
	p.mu.Unlock()
	f.end()
	return nil
}

// find finds a version of a function; "" means Latest.
func (p *Pool) find(name, version string) (*function, error) {
	if version == "" {
		version = Latest
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("function %s: %w", name, ErrClosed)
	}
	f := p.functions[key{name, version}]
	switch {
	case f != nil:
		return f, nil
	case version != Latest && p.functions[key{name, Latest}] != nil:
		return nil, fmt.Errorf("%w: function %s has no version %s", ErrUnknown, name, version)
	}
	return nil, fmt.Errorf("%w: %s was not deployed", ErrUnknown, name)
}

// Log is the log of a version of a function. It stays the same when the function is deployed anew.
func (p *Pool) Log(name, version string) (*logbook.Book, error) {
	f, err := p.find(name, version)
	if err != nil {
		return nil, err
	}
	return f.book, nil
}

// Close stops every instance, waits until no program and no goroutine of the pool is left, and removes its folders.
// Invocations that run are ended as if their instance had been killed; whoever wants them to end by themselves waits
// before.
func (p *Pool) Close() error {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.vacancy.wake()
	var all []*function
	for _, f := range p.functions {
		all = append(all, f)
	}
	p.mu.Unlock()
	if closed {
		return nil
	}
	for _, f := range all {
		f.end()
	}
	p.spares.close()
	p.starter.Close()
	p.wait.Wait()
	var err error
	if p.limits != nil {
		err = p.limits.Close()
	}
	for _, name := range folders {
		if e := os.RemoveAll(filepath.Join(p.config.Dir, name)); err == nil {
			err = e
		}
	}
	return err
}

// now is the placers' clock.
func (p *Pool) now() time.Duration { return time.Since(p.began) }
