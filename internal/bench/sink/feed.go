package sink

import (
	"context"
	"fmt"
	"io"
	"time"
)

// lineFeed is the lines that one courier is given: of every step-th row, from first.
type lineFeed struct {
	schema      *sinkSchema
	first, step int
	n           int
	perSecond   int    // rows of all couriers together; 0: as fast as they are taken
	ready       []byte // the lines, if they were made before
}

// prepare makes the lines of a feed without a rate before they are wanted, as a file has them: else making them takes
// the time of who takes them.
func (f *lineFeed) prepare() {
	b := make([]byte, 0, f.n*len(f.schema.appendLine(nil, f.row(0))))
	for i := range f.n {
		b = append(f.schema.appendLine(b, f.row(i)), '\n')
	}
	f.ready = b
}

// mostAtOnce is how many bytes are written at once, about. A pipe holds as many.
const mostAtOnce = 64 << 10

// row is the number of the i-th line's row.
func (f *lineFeed) row(i int) int { return f.first + i*f.step }

// due is when the i-th line is to be written, after the start.
func (f *lineFeed) due(i int) time.Duration {
	if f.perSecond == 0 {
		return 0
	}
	return time.Duration(float64(f.row(i)) / float64(f.perSecond) * float64(time.Second))
}

// write writes each line when it is due, or as soon thereafter as w takes it: nothing is left out because the far end
// is slow. written, if not nil, is told how many lines have been taken.
func (f *lineFeed) write(ctx context.Context, w io.Writer, start time.Time, written func(n int)) error {
	if f.ready != nil {
		if _, err := w.Write(f.ready); err != nil {
			return fmt.Errorf("write lines: %w", err)
		}
		return nil
	}
	wait := time.NewTimer(0)
	defer wait.Stop()
	b := make([]byte, 0, 2*mostAtOnce)
	for i := 0; i < f.n; {
		if left := f.due(i) - time.Since(start); left > 0 {
			wait.Reset(left) // lines are due at times
			select {
			case <-wait.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		b = b[:0]
		for now := time.Since(start); i < f.n && len(b) < mostAtOnce && f.due(i) <= now; i++ {
			b = append(f.schema.appendLine(b, f.row(i)), '\n')
		}
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write lines: %w", err)
		}
		if written != nil {
			written(i)
		}
	}
	return nil
}
