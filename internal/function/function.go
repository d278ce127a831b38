package function

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/isolate"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/function/place"
)

// function is a version of a function and its instances.
type function struct {
	pool     *Pool
	d        Definition
	deployed Deployed
	// interpreter is the program of the runtime, found when the function was deployed; "": it brings its own.
	interpreter string
	user        int          // of the machine, that its programs are where they are isolated
	memo        isolate.Memo // of the plan of its rooms
	book        *logbook.Book
	totals      totals

	mu     sync.Mutex // guards placer, timer and what the slots' Values are
	placer *place.Placer
	timer  *time.Timer
	armed  time.Duration // when the timer fires; 0: it does not
	ended  bool

	live atomic.Int64 // instances that have not ended; with ended, the last one removes the code
}

func newFunction(p *Pool, d Definition, placed code.Placed) *function {
	f := &function{pool: p, d: d, book: logbook.New(p.config.LogBytes)}
	arn := "arn:aws:lambda:" + p.config.Region + ":" + p.config.Account + ":function:" + d.Name
	if d.Version != Latest {
		arn += ":" + d.Version
	}
	f.deployed = Deployed{Definition: d, ARN: arn, Dir: placed.Dir, CodeSize: placed.Size, CodeSHA256: placed.SHA256,
		Changed: time.Now()}
	limit := -1
	if d.Reserved != nil {
		limit = *d.Reserved
	}
	f.placer = place.New(place.Policy{Kind: d.Policy, Machines: d.Machines, Provisioned: d.Provisioned, Limit: limit,
		Idle: d.Idle, Freeze: d.Freeze})
	f.live.Store(1) // the function itself
	return f
}

// program says how an instance of the function is started.
func (f *function) program(temp string) (loader.Start, error) {
	layers := slices.Clone(f.d.Layers)
	slices.Reverse(layers)
	return loader.Find(loader.Want{Runtime: f.d.Runtime, Command: f.d.Command, Handler: f.d.Handler,
		Dir: f.deployed.Dir, Layers: layers,
		MemoryMB: f.d.MemoryMB, Interpreter: f.interpreter, Options: f.d.Environment["JAVA_TOOL_OPTIONS"], Temp: temp,
		Loaders: f.pool.config.Dir + "/loaders"})
}

// begin starts what is provisioned.
func (f *function) begin() {
	f.mu.Lock()
	f.timer = time.AfterFunc(time.Hour, f.tick)
	f.timer.Stop()
	f.placer.Tick(f.pool.now())
	f.act()
}

// act does what the placer wants, and unlocks f.mu.
func (f *function) act() {
	start, stop, freeze := f.placer.Changes()
	var ending []*instance
	for _, s := range start {
		f.launch(s, nil)
	}
	for _, s := range stop {
		ending = append(ending, s.Value.(*instance))
	}
	for _, s := range freeze {
		s.Value.(*instance).freeze()
	}
	f.arm()
	f.mu.Unlock()
	for _, i := range ending {
		i.stop(shutdownSpindown)
	}
}

// arm sets the timer to when the placer wants to look again. f.mu is held.
func (f *function) arm() {
	if f.ended || f.timer == nil {
		return
	}
	if f.armed != 0 && f.d.Freeze == 0 && f.placer.Waiting() == 0 {
		return // what is idle can wait until it fires
	}
	now := f.pool.now()
	in, ok := f.placer.Next(now)
	if !ok || f.armed != 0 && f.armed <= now+in {
		return
	}
	f.armed = now + in
	f.timer.Reset(in)
}

// tick is called by the timer.
func (f *function) tick() {
	f.mu.Lock()
	f.armed = 0
	if f.ended {
		f.mu.Unlock()
		return
	}
	f.placer.Tick(f.pool.now())
	f.act()
}

// end refuses what waits and stops the instances, those that work when they have answered.
func (f *function) end() {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return
	}
	waiting := f.placer.Close(f.pool.now())
	f.ended = true
	if f.timer != nil {
		f.timer.Stop()
	}
	f.act()
	for _, t := range waiting {
		t.Value.(*call).fail(ErrClosed)
	}
	f.pool.spares.take(f).close()
	f.release()
}

// release counts an instance, or the function itself, out. The last one removes the code.
func (f *function) release() {
	if f.live.Add(-1) == 0 {
		f.removeCode()
	}
}

// removeCode removes what was unpacked.
func (f *function) removeCode() {
	for _, dir := range append([]string{f.deployed.Dir}, f.d.Layers...) {
		if strings.HasPrefix(dir, f.pool.config.Dir+"/code/") {
			_ = os.RemoveAll(dir) // the pool's end, or the next beginning, removes what is left
		}
	}
}
