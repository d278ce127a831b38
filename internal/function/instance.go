package function

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/isolate"
	"github.com/hikyaku/hikyaku/internal/function/limit"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/function/process"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

// instance is one running copy of a function. It ends for good; what takes its place in the slot is another one.
//
// Who may take the locks of a function and of an instance, takes the function's first.
type instance struct {
	fn          *function
	id          string
	slot        *place.Slot // its Value is the instance, until it was given to another: see function.leave
	provisioned bool
	temp        string
	began       time.Time     // when its runtime was started
	initTook    time.Duration // set before the first invocation
	server      *runtimeapi.Server
	group       *limit.Group  // nil: none
	room        *isolate.Room // nil: it is where we are; set before its programs are started
	pipe        *logbook.Pipe
	writer      *os.File     // the programs' end of the pipe
	stopping    chan string  // gets the reason why it shall end; has room for one
	peak        atomic.Int64 // MB
	measured    atomic.Int64 // when, in nanoseconds of the pool's clock
	weighed     atomic.Int64 // the same of its temporary files
	stored      atomic.Int64 // their bytes then, when they are not bounded
	uses        atomic.Int64
	current     atomic.Pointer[call] // whose lines the programs print
	pid         atomic.Int64
	joining     sync.WaitGroup // programs on their way into the control group

	mu         sync.Mutex
	main       *process.Child
	extensions []*process.Child
	ready      bool      // the initialisation has ended well
	dead       bool      // it serves nobody any more
	call       *call     // that it serves
	deadline   time.Time // of the invocation, until the runtime has asked for another
	broken     *runtimeapi.Answer
	timer      *time.Timer // of the initialisation, then of the invocation
}

// launch starts an instance in a slot; c is an invocation that it is a part of, or nil. fn.mu is held.
func (f *function) launch(s *place.Slot, c *call) {
	i := &instance{fn: f, id: newInstanceID(), slot: s, provisioned: s.Provisioned, stopping: make(chan string, 1),
		call: c}
	s.Value = i
	f.live.Add(1)
	f.totals.cold.Add(1)
	f.pool.wait.Add(1)
	go i.run()
}

// serve hands an invocation to the instance, which the placer has chosen for it.
func (i *instance) serve(c *call) {
	i.mu.Lock()
	if i.dead {
		i.mu.Unlock()
		i.fn.again(c)
		return
	}
	i.call = c
	c.first = i.uses.Add(1) == 1
	i.start(c, time.Now())
	i.mu.Unlock()
	i.server.Give(&c.inv)
}

// start begins an invocation: from now on its time runs. i.mu is held.
func (i *instance) start(c *call, now time.Time) {
	c.began = now
	c.inv.Deadline = now.Add(i.fn.d.Timeout)
	i.deadline = c.inv.Deadline
	i.timer.Reset(i.fn.d.Timeout)
	c.log(i, now, bill.Start(c.inv.ID, i.fn.d.Version))
	i.current.Store(c)
}

// again places an invocation once more whose instance had ended before it began.
func (f *function) again(c *call) {
	c.ticket = place.Ticket{Value: c}
	if err := f.arrive(c); err != nil {
		c.fail(err)
	}
}

// Asked implements runtimeapi.Handler: everybody waits for an invocation.
func (i *instance) Asked() {
	now := time.Now()
	i.mu.Lock()
	if i.dead {
		i.mu.Unlock()
		return
	}
	first := !i.ready
	c := i.call
	if first {
		i.ready = true
		i.initTook = now.Sub(i.began)
	}
	if c == nil {
		i.timer.Stop()
		i.deadline = time.Time{}
	}
	i.mu.Unlock()
	if first {
		i.pipe.Drain() // what the start has printed comes before START
		i.settleDown()
		i.fn.prepare()
	}
	if c != nil { // the instance was started for it
		i.uses.Add(1)
		i.server.Give(&c.inv)
		return
	}
	f := i.fn
	f.mu.Lock()
	var t *place.Ticket
	if first {
		t = f.placer.Ready(f.pool.now(), i.slot, i.initTook)
	} else {
		t = f.placer.Free(f.pool.now(), i.slot)
	}
	f.act()
	if t != nil {
		i.serve(t.Value.(*call))
	}
}

// Answered implements runtimeapi.Handler: the runtime has answered.
func (i *instance) Answered(inv *runtimeapi.Invocation, a runtimeapi.Answer) {
	i.mu.Lock()
	c := i.call
	if c == nil || &c.inv != inv {
		i.mu.Unlock()
		return // it was too late
	}
	i.call = nil // and its time runs on: the runtime has to come back
	i.mu.Unlock()
	f := i.fn
	f.mu.Lock()
	f.placer.Answered(f.pool.now(), i.slot)
	f.act()
	i.complete(c, outcome{answer: a})
	if i.overfull() {
		i.retire()
	}
}

// expire is called by the timer: of the initialisation, or of an invocation.
func (i *instance) expire() {
	now := time.Now()
	i.mu.Lock()
	c := i.call
	switch {
	case i.dead:
		i.mu.Unlock()
	case c == nil && !i.ready:
		i.mu.Unlock()
		i.initFailed(statusTimeout, i.broken)
	case i.deadline.IsZero() || now.Before(i.deadline):
		i.mu.Unlock() // it was stopped a moment too late
	case c == nil: // it has answered, and not asked for another
		i.dead = true
		i.mu.Unlock()
		i.note("The instance is stopped: its runtime or an extension was not done when the time of the invocation " +
			"was over.")
		i.fn.leave(i)
		i.stop(shutdownTimeout)
	default:
		i.call, i.dead = nil, true
		ready := i.ready
		i.mu.Unlock()
		i.fn.leave(i)
		o := c.timedOut(now)
		if !ready {
			c.log(i, now, bill.InitReport(now.Sub(i.began), phaseInvocation, statusTimeout, ""))
		}
		c.log(i, now, now.UTC().Format("2006-01-02T15:04:05.000Z")+" "+c.inv.ID+" Task timed out after "+
			seconds(i.fn.d.Timeout)+" seconds")
		i.complete(c, o)
		i.stop(shutdownTimeout)
	}
}

// InitFailed implements runtimeapi.Handler: the runtime or an extension says that it cannot start. It ends by itself as
// a rule; if it does not, it is ended soon.
func (i *instance) InitFailed(kind string, body []byte) {
	if kind == "" {
		kind = errorUnknown
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.broken == nil && !i.ready && !i.dead {
		i.broken = &runtimeapi.Answer{At: time.Now(), Body: body, ContentType: "application/json", ErrorType: kind,
			Failed: true}
		if i.call == nil {
			i.timer.Reset(lastWords)
		}
	}
}

// lastWords is how long a runtime that cannot start has to end by itself, so that what it prints is in the log.
const lastWords = time.Second

// ExtensionFailed implements runtimeapi.Handler: the extension ends by itself, and the instance with it.
func (i *instance) ExtensionFailed(name, kind string) {
	i.note("EXTENSION\tName: " + name + "\tState: ExitError\tError Type: " + kind)
}

// initFailed ends an initialisation that did not succeed: by time, or as a says. Whoever waits has it done again.
func (i *instance) initFailed(status string, a *runtimeapi.Answer) {
	now := time.Now()
	i.mu.Lock()
	if i.dead {
		i.mu.Unlock()
		return
	}
	c := i.call
	i.call, i.dead = nil, true
	i.timer.Stop()
	i.mu.Unlock()
	f := i.fn
	f.totals.initFailures.Add(1)
	i.drain()
	kind := ""
	if a != nil {
		kind = a.ErrorType
	}
	phase := phaseInit
	if c != nil {
		phase = phaseInvocation
	}
	i.note(bill.InitReport(now.Sub(i.began), phase, status, kind))
	if c != nil {
		f.leave(i)
		o := outcome{status: statusError}
		if a != nil {
			o.answer = *a
		}
		o.answer.At = now
		i.complete(c, o)
	} else {
		f.retry(i)
	}
	i.stop(shutdownFailure)
}

// retry tells the placer that an instance could not start; if somebody waits, another one takes its place as a part of
// that invocation.
func (f *function) retry(i *instance) {
	f.mu.Lock()
	if i.slot.Value != i {
		f.mu.Unlock()
		return
	}
	if t := f.placer.Failed(f.pool.now(), i.slot); t != nil {
		c := t.Value.(*call)
		c.again = true
		f.launch(i.slot, c)
	}
	f.act()
}

// leave tells the placer that an instance has ended.
func (f *function) leave(i *instance) {
	f.mu.Lock()
	if i.slot.Value == i {
		f.placer.Gone(f.pool.now(), i.slot)
	}
	f.act()
}

// stop asks for the end of the instance.
func (i *instance) stop(reason string) {
	i.mu.Lock()
	i.dead = true
	i.mu.Unlock()
	select {
	case i.stopping <- reason:
	default: // it was asked before
	}
}
