package rowstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// ids makes a table whose key is the message's id, so that the keys k show whatever is written twice.
func (h *Harness) ids(t *testing.T, name string) *table {
	return h.table(t, name, Definition{Name: "id", Type: h.Text, NotNull: true, Key: true},
		Definition{Name: "k", Type: h.Int, NotNull: true}, Definition{Name: "v", Type: h.Text})
}

var byID = rows.Config{IDColumn: "id"}

// concurrent sends from several goroutines, with a row in each batch that is refused.
func concurrent(t *testing.T, h *Harness) {
	const senders, batches, size, old = 8, 6, 40, 1_000_000
	tb := h.table(t, "concurrent")
	s := tb.open(rows.Config{})
	delivered(t, s.send(row(old)))
	s.senders(senders, batches, size, func() []*message.Message { return []*message.Message{row(old)} },
		func(o component.Outcome) { rejected(t, o, h.Duplicate) })
	want := senders * batches * size
	if keys := tb.keys(); len(keys) != want+1 || keys[want-1] != want-1 {
		t.Errorf("the table has %s", brief(keys))
	}
}

// senders deliver the rows from 0 on, each sender its share, in batches. more makes messages at the end of each batch,
// whose outcomes judge is given.
func (s *sink) senders(senders, batches, size int, more func() []*message.Message, judge func(component.Outcome)) {
	var work sync.WaitGroup
	for n := range senders {
		work.Go(func() {
			for b := range batches {
				from := (n*batches + b) * size
				batch := rowsOf(from, from+size)
				if more != nil {
					batch = append(batch, more()...)
				}
				outcomes, err := s.tryDeliver(batch)
				if err != nil {
					s.t.Error(err)
					return
				}
				for i, o := range outcomes {
					if i >= size {
						judge(o)
					} else if o.Verdict != component.Delivered {
						s.t.Errorf("row %d: %v, because %v", from+i, o.Verdict, o.Reason)
					}
				}
			}
		})
	}
	work.Wait()
}

// background delivers in a goroutine of its own; wait is for its end.
func (s *sink) background(work func()) (over <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	s.t.Cleanup(func() { <-done })
	return done
}

func ended(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}

// conflict makes the sink lose against another transaction until that lets go.
func conflict(t *testing.T, h *Harness) {
	if h.without(t, "Conflict") {
		return
	}
	tb := h.ids(t, "conflict")
	s := tb.open(byID)
	delivered(t, s.send(rowsOf(0, 3)...))
	free := h.Conflict(t, tb.name)
	over := s.background(func() {
		if outcomes, err := s.tryDeliver(rowsOf(3, 20)); err != nil || outcomes[0].Verdict != component.Delivered {
			t.Errorf("%v, because %v; %v", outcomes[0].Verdict, outcomes[0].Reason, err)
		}
	})
	until(t, "a conflict", func() bool { return s.count("conflicts") > 0 })
	free()
	until(t, "the end", func() bool { return ended(over) })
	tb.holds(0, 20)
}

// killedIdle ends sessions between two batches: nobody has to try again for that.
func killedIdle(t *testing.T, h *Harness) {
	if h.without(t, "Kill") {
		return
	}
	tb := h.table(t, "idle")
	s := tb.open(rows.Config{})
	delivered(t, s.send(rowsOf(0, 10)...))
	h.Kill(t)
	delivered(t, s.deliver(rowsOf(10, 20)...))
	tb.holds(0, 20)
	if s.count("reconnects") == 0 {
		t.Error("no new session is counted")
	}
}

// killedBusy ends sessions again and again while rows are written.
func killedBusy(t *testing.T, h *Harness) {
	if h.without(t, "Kill") {
		return
	}
	tb := h.ids(t, "busy")
	s := tb.open(byID)
	delivered(t, s.send(row(1_000_000)))
	over := s.background(func() { s.senders(2, 15, 50, nil, nil) })
	for !ended(over) {
		before := s.count("blocks")
		h.Kill(t)
		until(t, "a block after a kill", func() bool { return ended(over) || s.count("blocks") > before })
	}
	if n := len(tb.keys()); n != 2*15*50+1 {
		t.Errorf("%d rows, not %d", n, 2*15*50+1)
	}
}

// cut ends the connection after so and so many bytes of a batch.
func cut(t *testing.T, h *Harness) {
	if h.without(t, "CutAfter") {
		return
	}
	tb := h.ids(t, "cut")
	s := tb.open(byID)
	delivered(t, s.send(row(0)))
	from := 1
	for n := 1; n < 6000; n += 1 + n/2 {
		h.CutAfter(t, n)
		batch := rowsOf(from, from+20)
		delivered(t, s.deliver(batch...))
		from += 20
	}
	h.CutAfter(t, 1) // in the place of one that may still be to come
	delivered(t, s.deliver(rowsOf(from, from+20)...))
	tb.holds(0, from+20)
}

// lost is a commit whose answer does not come: with an id nothing is doubled, without one it is counted.
func lost(t *testing.T, h *Harness) {
	if h.without(t, "LoseAnswer") {
		return
	}
	t.Run("with the message's id", func(t *testing.T) {
		tb := h.ids(t, "lostids")
		s := tb.open(byID)
		delivered(t, s.send(rowsOf(0, 5)...))
		gone := h.LoseAnswer(t)
		delivered(t, s.deliver(rowsOf(5, 10)...))
		if !gone() {
			t.Error("no answer was lost")
		}
		tb.holds(0, 10)
	})
	t.Run("without", func(t *testing.T) {
		tb := h.table(t, "lost", Definition{Name: "k", Type: h.Int}, Definition{Name: "v", Type: h.Text})
		s := tb.open(rows.Config{})
		delivered(t, s.send(rowsOf(0, 5)...))
		gone := h.LoseAnswer(t)
		delivered(t, s.deliver(rowsOf(5, 10)...))
		if !gone() {
			t.Error("no answer was lost")
		}
		seen := map[int]int{}
		for _, k := range tb.keys() {
			seen[k]++
		}
		doubled := 0
		for k := range 10 {
			if seen[k] == 0 || seen[k] > 2 || k < 5 && seen[k] != 1 {
				t.Errorf("row %d is there %d times", k, seen[k])
			}
			doubled += seen[k] - 1
		}
		if n := s.count("maybe_doubled"); n < uint64(doubled) || n == 0 && doubled > 0 {
			t.Errorf("%d rows are there twice, %d are counted", doubled, n)
		}
	})
}

// hang is a database that takes everything and answers nothing: a Send ends with its time, and what is said then can be
// tried again.
func hang(t *testing.T, h *Harness) {
	if h.without(t, "Hang") {
		return
	}
	tb := h.ids(t, "hang")
	s := tb.open(byID)
	delivered(t, s.send(rowsOf(0, 5)...))
	free := h.Hang(t)
	batch := rowsOf(5, 10)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		outcomes, err := s.Send(ctx, batch)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range outcomes {
			if o.Verdict != component.Retry || o.Reason == nil {
				t.Errorf("message %d: %v, because %v", i, o.Verdict, o.Reason)
			}
		}
	}
	free()
	delivered(t, s.deliver(batch...))
	tb.holds(0, 10)
}

// downAtStart is no reason not to start: the rows wait.
func downAtStart(t *testing.T, h *Harness) {
	if h.without(t, "Down") {
		return
	}
	tb := h.table(t, "downatstart")
	up := h.Down(t)
	s, err := tb.tryOpen(rows.Config{})
	if err != nil {
		up()
		t.Fatalf("the start says: %v", err)
	}
	outcomes := s.send(rowsOf(0, 5)...)
	for _, o := range outcomes {
		if o.Verdict != component.Retry || !o.Held {
			t.Errorf("%v (held: %v), because %v", o.Verdict, o.Held, o.Reason)
		}
	}
	up()
	delivered(t, s.deliver(rowsOf(0, 5)...))
	tb.holds(0, 5)
}

// downAndUp takes the database away under load from several senders.
func downAndUp(t *testing.T, h *Harness) {
	if h.without(t, "Down") {
		return
	}
	tb := h.ids(t, "downandup")
	s := tb.open(byID)
	const senders, batches, size = 4, 20, 25
	over := s.background(func() { s.senders(senders, batches, size, nil, nil) })
	until(t, "some blocks", func() bool { return ended(over) || s.count("blocks") > senders })
	up := h.Down(t)
	up()
	until(t, "the end", func() bool { return ended(over) })
	tb.holds(0, senders*batches*size)
}
