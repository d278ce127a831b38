package function

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/logbook"
	"github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

// call is an invocation on its way. Until it is served it belongs to the placer, then to its instance; whoever ends it
// owns it.
type call struct {
	fn      *function
	ticket  place.Ticket
	inv     runtimeapi.Invocation
	arrived time.Time
	began   time.Time                    // START
	again   bool                         // the instance is started once more as a part of it
	first   bool                         // nobody has used the instance before
	queued  bool                         // no instance was free when it arrived
	gate    *gate                        // to the caller's Stream
	counted atomic.Pointer[atomic.Int64] // where it counts as running, until it is over
	tail    *tail                        // the end of the log, if the caller wants it
	once    sync.Once                    // the end
	result  *Result
	err     error
	done    chan struct{}
}

// fail ends an invocation that no instance has served.
func (c *call) fail(err error) {
	c.once.Do(func() {
		c.release()
		c.err = err
		close(c.done)
	})
}

// outcome is how an invocation ended.
type outcome struct {
	answer runtimeapi.Answer
	status string // timeout or error, for REPORT; "": success
}

// failed is the outcome of an invocation that the machine ended.
func failed(at time.Time, status, kind, message string) outcome {
	body, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": message}) // strings always can be
	return outcome{runtimeapi.Answer{At: at, Body: body, ContentType: "application/json", ErrorType: kind,
		Failed: true}, status}
}

// timedOut is the outcome of an invocation whose time is over.
func (c *call) timedOut(at time.Time) outcome {
	return failed(at, statusTimeout, errorTimeout, "RequestId: "+c.inv.ID+" Error: Task timed out after "+
		seconds(c.fn.d.Timeout)+" seconds")
}

// usage is what the invocation used, as its bill has it.
func (c *call) usage(o *outcome, i *instance) bill.Usage {
	u := bill.Usage{Duration: c.duration(o, i), MemoryMB: c.fn.d.MemoryMB, PeakMB: i.peakMB(o.answer.Failed),
		Limited: i.limited(), Status: o.status}
	if c.first && !c.again {
		u.Init, u.Provisioned = i.initTook, i.provisioned
	}
	if o.status == statusError {
		u.ErrorType = o.answer.ErrorType
	}
	return u
}

// duration is from the hand-over of the event to the answer, or, when the instance was started as a part of the
// invocation, from START.
func (c *call) duration(o *outcome, i *instance) time.Duration {
	from := i.givenAt(c)
	if c.again || from.IsZero() || from.Before(c.began) {
		from = c.began
	}
	return o.answer.At.Sub(from)
}

// log writes a line of ours about the invocation.
func (c *call) log(i *instance, at time.Time, text string) {
	c.fn.book.Add(logbook.Line{Time: at, Instance: i.id, Request: c.inv.ID, Text: text, Ours: true})
	c.tail.add(text)
}

// tail is the end of an invocation's log: at least the last 4 KiB.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailBytes is how much of a log the caller gets.
const tailBytes = 4 << 10

func (t *tail) add(text string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
	}
	t.buf = append(append(t.buf, text...), '\n')
	if len(t.buf) > 4*tailBytes {
		t.buf = t.buf[:copy(t.buf, t.buf[len(t.buf)-tailBytes:])]
	}
}

func (t *tail) bytes() []byte {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf[max(0, len(t.buf)-tailBytes):]
}

// gate lets an answer through to the caller's Stream until the caller is gone.
type gate struct {
	mu     sync.Mutex
	stream runtimeapi.Stream
	over   bool
}

// Begin implements runtimeapi.Stream.
func (g *gate) Begin(contentType string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over {
		g.stream.Begin(contentType)
	}
}

// Write implements runtimeapi.Stream.
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return 0, ErrClosed
	}
	return g.stream.Write(p)
}

// close waits for a Write under way; nothing comes through any more.
func (g *gate) close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}
