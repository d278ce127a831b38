package sink

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// sinkWindow is what a moment of a long run was like.
type sinkWindow struct {
	sinkSaid
	at     time.Duration // since the start
	due    int           // lines that were to be written by then
	unread int           // of these, how many had not been taken: what the courier keeps waiting
}

// sinkWatch joins what a courier says with what it was given.
type sinkWatch struct {
	run     *sinkRun
	feed    *lineFeed
	start   time.Time
	written atomic.Int64
}

func (w *sinkWatch) window(s sinkSaid) sinkWindow {
	at := time.Since(w.start)
	due := w.feed.n
	if w.feed.perSecond > 0 {
		due = min(due, int(at.Seconds()*float64(w.feed.perSecond))/w.feed.step)
	}
	return sinkWindow{sinkSaid: s, at: at, due: due, unread: max(0, due-int(w.written.Load()))}
}

// closedOnce is closed once, however often it is asked for.
type closedOnce struct {
	io.WriteCloser
	once sync.Once
	err  error
}

// Close implements io.Closer.
func (c *closedOnce) Close() error {
	c.once.Do(func() { c.err = c.WriteCloser.Close() })
	return c.err
}
