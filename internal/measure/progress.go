package measure

import (
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

const redraw = 100 * time.Millisecond // at most every

// ProgressConfig describes a progress bar.
type ProgressConfig struct {
	W        io.Writer        // where it is drawn; nil: nowhere
	Terminal bool             // false: nothing is ever written
	Columns  func() int       // the terminal's width; nil, or 0 when asked: 80
	Label    string           // what is being done
	Total    int64            // how much there is to do; 0 or less: unknown
	Now      func() time.Time // nil: time.Now
}

// Progress is a line that shows how far something is: the share, the count, the rate and the time that is left. It is
// drawn from within Add and Set, at most ten times a second, and has no goroutine. Its methods may be called from any
// goroutine. On a nil *Progress they do nothing, for callers who want no bar.
type Progress struct {
	c     ProgressConfig
	began time.Time
	count atomic.Int64
	next  atomic.Int64 // when it may be drawn again, in nanoseconds since began

	mu   sync.Mutex
	over bool
}

// NewProgress begins a progress bar. Nothing is drawn before the first Add or Set.
func NewProgress(c ProgressConfig) *Progress {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.W == nil {
		c.Terminal = false
	}
	c.Label = plain(c.Label)
	return &Progress{c: c, began: c.Now()}
}

// StderrProgress begins a progress bar on stderr that is silent unless stderr is a terminal.
func StderrProgress(label string, total int64) *Progress {
	fd := int(os.Stderr.Fd())
	return NewProgress(ProgressConfig{
		W: os.Stderr, Terminal: term.IsTerminal(fd), Label: label, Total: total,
		Columns: func() int {
			width, _, err := term.GetSize(fd)
			if err != nil {
				return 0
			}
			return width
		},
	})
}

// Add says that n more were done.
func (p *Progress) Add(n int64) {
	if p == nil {
		return
	}
	p.count.Add(n)
	p.show()
}

// Set says that n were done in all.
func (p *Progress) Set(n int64) {
	if p == nil {
		return
	}
	p.count.Store(n)
	p.show()
}

// show draws the line if it is time.
func (p *Progress) show() {
	if !p.c.Terminal {
		return
	}
	now := int64(p.c.Now().Sub(p.began))
	next := p.next.Load()
	if now < next || !p.next.CompareAndSwap(next, now+int64(redraw)) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.draw("")
	}
}

// Done draws the line a last time and leaves it. Afterwards, as after Clear, nothing is written any more.
func (p *Progress) Done() { p.end(func() { p.draw("\n") }) }

// Clear removes the line.
func (p *Progress) Clear() { p.end(func() { p.write("\r\x1b[K") }) }

func (p *Progress) end(last func()) {
	if p == nil || !p.c.Terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.over = true
		last()
	}
}

func (p *Progress) draw(end string) {
	columns := 0
	if p.c.Columns != nil {
		columns = p.c.Columns()
	}
	if columns <= 0 {
		columns = 80
	}
	// The last column stays free: some terminals break the line when it is written to.
	p.write("\r" + p.line(columns-1, end != "") + "\x1b[K" + end)
}

// write ignores errors: that nobody can see how far the work is, is no reason to end it.
func (p *Progress) write(s string) { _, _ = io.WriteString(p.c.W, s) }

func (p *Progress) line(width int, last bool) string {
	n, total := p.count.Load(), p.c.Total
	elapsed := p.c.Now().Sub(p.began)
	perSecond := 0.0
	if elapsed > 0 {
		perSecond = float64(n) / elapsed.Seconds()
	}
	var figures []string
	if total > 0 {
		figures = append(figures, pad(Count(int64(100*float64(min(n, total))/float64(total))), 3, Right)+"%",
			Count(n)+"/"+Count(total))
	} else {
		figures = append(figures, Count(n))
	}
	if perSecond > 0 {
		figures = append(figures, Rate(perSecond))
	}
	switch {
	case last || total <= 0:
		figures = append(figures, Duration(elapsed.Round(time.Millisecond)))
	case perSecond > 0 && n < total:
		left := time.Duration(min(float64(total-n)/perSecond, 1e6*3600) * float64(time.Second))
		figures = append(figures, "ETA "+Duration(left))
	}
	tail := strings.Join(figures, "  ")
	room := width - cells(tail) - 2
	label := cut(p.c.Label, room)
	if label != "" {
		label += "  "
	}
	// The bar gets what is left, so that label and figures stand still while the figures grow only a little.
	bar := ""
	if space := min(room-cells(label)-2, 40); total > 0 && space >= 10 {
		full := int(float64(space) * float64(min(max(n, 0), total)) / float64(total))
		bar = "[" + strings.Repeat("=", full) + strings.Repeat(" ", space-full) + "]  "
	}
	return cut(label+bar+tail, width)
}
