package rowstest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Numbered sends numbered rows from several senders, each batch until nothing of it is to be tried again. over is
// closed when all are written.
func Numbered(t *testing.T, s component.Sink, senders, batches, size int) (over <-chan struct{}) {
	t.Helper()
	var done sync.WaitGroup
	for sender := range senders {
		done.Go(func() {
			for b := range batches {
				batch := make([]*message.Message, size)
				for i := range batch {
					batch[i] = &message.Message{ID: message.NewID(),
						Body: fmt.Appendf(nil, `{"n":%d}`, (sender*batches+b)*size+i)}
				}
				for len(batch) > 0 {
					outcomes, err := s.Send(t.Context(), batch)
					if err != nil {
						t.Error(err)
						return
					}
					var again []*message.Message
					for i, o := range outcomes {
						switch o.Verdict {
						case component.Retry:
							again = append(again, batch[i])
						case component.Rejected:
							t.Error(o.Reason)
						}
					}
					batch = again
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		done.Wait()
		close(ended)
	}()
	return ended
}

// Storm does harm, one kind after the other, until it is over, but for a bounded number of times.
func Storm(over <-chan struct{}, harm ...func(i int)) {
	const most = 24
	for i := 0; ; i++ {
		var next <-chan time.Time
		if i < most {
			next = time.After(10 * time.Millisecond)
		}
		select {
		case <-over:
			return
		case <-next:
			harm[i%len(harm)](i)
		}
	}
}

// Server is a database's server that can be killed.
type Server interface {
	Kill() error
	Start(ctx context.Context) error
}

// Crashing writes without an id into the table t while its server is killed and started again: no row is lost, and as
// many as were counted may be there twice. ask is the answer to a query, as text.
func Crashing(t *testing.T, server Server, ask func(query string) string, s interface {
	component.Sink
	component.Counter
}) {
	t.Helper()
	const senders, batches, size = 3, 100, 20
	over := Numbered(t, s, senders, batches, size)
	for range 2 {
		for before := ask("SELECT count(*) FROM t"); ask("SELECT count(*) FROM t") == before; {
			select {
			case <-over:
				before = "" // it was quick
			default:
			}
		}
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	<-over
	if got, want := ask("SELECT count(DISTINCT n) FROM t"), fmt.Sprint(senders*batches*size); got != want {
		t.Errorf("%s rows, not %s", got, want)
	}
	doubled, err := strconv.ParseUint(ask("SELECT count(*) - count(DISTINCT n) FROM t"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Counts()["maybe_doubled"]; doubled > n {
		t.Errorf("%d rows are there twice, and %d were counted", doubled, n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
