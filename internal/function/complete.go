package function

import (
	"encoding/json"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

// complete ends an invocation: what it printed, END and REPORT are in the log, and the caller is told.
func (i *instance) complete(c *call, o outcome) {
	c.once.Do(func() {
		i.drain()
		now := time.Now()
		u := c.usage(&o, i)
		charge := c.fn.pool.config.Bill.Charge(u)
		c.log(i, now, bill.End(c.inv.ID))
		c.log(i, now, bill.Report(c.inv.ID, u, charge))
		i.current.CompareAndSwap(c, nil)
		r := &Result{RequestID: c.inv.ID, Version: c.fn.d.Version, Payload: o.answer.Body,
			ContentType: o.answer.ContentType, Streamed: o.answer.Bytes,
			LogTail: c.tail.bytes(), Instance: i.id, Cold: c.queued && c.first || c.again, Usage: u, Charge: charge,
			Waited: c.waited(o.answer.At, i)}
		if o.answer.Failed {
			r.FunctionError, r.ErrorType = unhandled, kindOf(&o.answer)
			r.Advice = c.fn.d.advice(r.ErrorType)
		}
		c.fn.totals.add(r)
		c.result = r
		c.release()
		close(c.done)
	})
}

// kindOf is the kind of an error: what the runtime has named beside it, or else in it.
func kindOf(a *runtimeapi.Answer) string {
	if a.ErrorType != "" {
		return a.ErrorType
	}
	var named struct {
		ErrorType string `json:"errorType"`
	}
	if json.Unmarshal(a.Body, &named) != nil || named.ErrorType == "" {
		return errorUnknown
	}
	return named.ErrorType
}

// waited is the time until the event was handed over, or, if it never was, until the end.
func (c *call) waited(end time.Time, i *instance) time.Duration {
	if given := i.givenAt(c); !given.IsZero() && given.Before(end) {
		end = given
	}
	return end.Sub(c.arrived)
}

// measureEvery is how often the kernel's figures about a program are read at most: it takes a while.
const measureEvery = 100 * time.Millisecond

// peakMB is the most memory that the instance has used so far, in MiB; 0: unknown. It is what its control group was
// charged, or what its programs have had in memory, whichever is more: the one knows of files that are cached for it,
// the other of pages that it shares. Pages that several of its programs share are counted for each: where memory is
// limited, the limit says what cannot be. With exact set it is measured now, else perhaps a moment ago.
func (i *instance) peakMB(exact bool) int {
	now := int64(i.fn.pool.now())
	if last := i.measured.Load(); exact || last == 0 || now-last > int64(measureEvery) {
		i.measured.Store(now)
		i.mu.Lock()
		main := i.main
		i.mu.Unlock()
		if main != nil {
			i.raise(main.Memory())
		}
		if i.group != nil {
			i.raise(i.group.Peak())
		}
	}
	if i.limited() {
		return min(int(i.peak.Load()), i.fn.d.MemoryMB)
	}
	return int(i.peak.Load())
}

func megabytes(bytes int64) int { return int((bytes + 1<<20 - 1) >> 20) }

// raise raises the peak.
func (i *instance) raise(bytes int64) {
	mb := int64(megabytes(bytes))
	for old := i.peak.Load(); mb > old; old = i.peak.Load() {
		if i.peak.CompareAndSwap(old, mb) {
			return
		}
	}
}

// limited tells whether the instance's memory is limited.
func (i *instance) limited() bool { return i.group != nil && i.fn.pool.limits.What().Memory }

func (i *instance) stats() InstanceStats {
	s := InstanceStats{ID: i.id, Invokes: i.uses.Load(), Pid: int(i.pid.Load())}
	i.mu.Lock()
	if !i.began.IsZero() {
		s.Age = time.Since(i.began)
	}
	if i.ready {
		s.Init = i.initTook
	}
	started := i.main != nil
	s.Isolated, s.Opt, s.StoredMB = i.apart(), i.room != nil && i.room.Opt, megabytes(i.stored.Load())
	i.mu.Unlock()
	if started {
		s.PeakMB, s.Limited = i.peakMB(false), i.limited()
	}
	return s
}

// freeze halts the instance's programs, and thaw lets them go on. fn.mu is held, so that the two do not meet.
func (i *instance) freeze() {
	if i.group != nil && i.group.Freeze(true) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.main != nil {
		i.main.Stop()
	}
}

func (i *instance) thaw() {
	if i.group != nil && i.group.Freeze(false) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.main != nil {
		i.main.Continue()
	}
}
