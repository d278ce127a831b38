package batch_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/batch"
)

// tick keeps the clock of a whole run within what rapid allows a test.
const tick = time.Microsecond

// model says, slowly and in the plainest way, which groups one handler gets. An item is its own size.
type model struct {
	c       batch.Config[int]
	waiting []offered
	blocked []offered
	busy    bool
	closed  bool
	pressed bool
	flushed int // of the items at the front
	groups  [][]int
}

type offered struct {
	item   int
	at     time.Time
	giveUp context.CancelFunc // of a call that waits for room
}

func (m *model) bytes() (n int) {
	for _, o := range m.waiting {
		n += o.item
	}
	return n
}

func (m *model) fits(item int) bool {
	if len(m.waiting) == 0 {
		return true
	}
	return len(m.waiting) < m.c.Pending && (m.c.PendingBytes == 0 || m.bytes()+item <= m.c.PendingBytes)
}

// offer returns what becomes of an item: nil, or ErrFull, which means that a call that waits (it can give up) has to.
func (m *model) offer(item int, giveUp context.CancelFunc) error {
	if m.closed {
		return batch.ErrClosed
	}
	o := offered{item, time.Now(), giveUp}
	if len(m.blocked) == 0 && m.fits(item) {
		m.waiting = append(m.waiting, o)
		m.settle(time.Now())
		return nil
	}
	m.pressed = true
	if giveUp != nil {
		m.blocked = append(m.blocked, o)
	}
	m.settle(time.Now())
	return batch.ErrFull
}

func (m *model) leaves(now time.Time) bool {
	switch {
	case len(m.waiting) == 0:
		return false
	case m.c.Delay == 0, m.closed, m.pressed, m.flushed > 0, len(m.waiting) >= m.c.MaxCount:
		return true
	}
	return m.c.MaxBytes > 0 && m.bytes() >= m.c.MaxBytes || !now.Before(m.waiting[0].at.Add(m.c.Delay))
}

// settle lets happen what happens by itself.
func (m *model) settle(now time.Time) {
	if m.busy || !m.leaves(now) {
		return
	}
	var group []int
	sum := 0
	for _, o := range m.waiting {
		if len(group) == m.c.MaxCount || m.c.MaxBytes > 0 && len(group) > 0 && sum+o.item > m.c.MaxBytes {
			break
		}
		group, sum = append(group, o.item), sum+o.item
	}
	m.waiting = m.waiting[len(group):]
	m.flushed = max(0, m.flushed-len(group))
	m.busy = true
	m.groups = append(m.groups, group)
	m.letIn()
	m.pressed = len(m.blocked) > 0
}

func (m *model) letIn() {
	for len(m.blocked) > 0 && m.fits(m.blocked[0].item) {
		m.waiting, m.blocked = append(m.waiting, m.blocked[0]), m.blocked[1:]
	}
}

func agreesWithModel(t *rapid.T) {
	h := newGate()
	c := batch.Config[int]{
		MaxCount:     rapid.IntRange(1, 5).Draw(t, "MaxCount"),
		MaxBytes:     rapid.SampledFrom([]int{0, 1, 10, 20}).Draw(t, "MaxBytes"),
		Delay:        time.Duration(rapid.SampledFrom([]int{0, 3, 10}).Draw(t, "Delay")) * tick,
		Pending:      rapid.IntRange(1, 12).Draw(t, "Pending"),
		PendingBytes: rapid.SampledFrom([]int{0, 5, 30}).Draw(t, "PendingBytes"),
		Size:         itself,
		Handle:       h.handle,
	}
	g := batch.New(c)
	m := &model{c: c}
	agree := func() {
		synctest.Wait()
		if got := h.seen(); !slices.EqualFunc(got, m.groups, slices.Equal[[]int]) {
			t.Fatalf("groups are %v, the model says %v", got, m.groups)
		}
		if s := g.Stats(); s.Waiting != len(m.waiting) || s.WaitingBytes != m.bytes() || s.Blocked != len(m.blocked) {
			t.Fatalf("stats are %+v, the model says %v wait and %v for room", s, m.waiting, m.blocked)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	ended := make(chan error, 1)
	defer func() { // whether or not the model agreed, everything ends
		h.leave()
		cancel()
		for range calls {
			<-ended
		}
		if err := g.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	t.Repeat(map[string]func(*rapid.T){
		"": func(*rapid.T) { agree() },
		"post": func(t *rapid.T) {
			item := rapid.IntRange(0, 12).Draw(t, "item")
			if got, want := g.Post(item), m.offer(item, nil); !errors.Is(got, want) {
				t.Fatalf("Post: %v, the model says %v", got, want)
			}
		},
		"post with a turn": func(t *rapid.T) {
			item := rapid.IntRange(0, 12).Draw(t, "item")
			turn, err := g.PostTurn(item)
			if turn != nil {
				calls++
				go func() { turn(); ended <- nil }()
			}
			if want := m.offer(item, nil); !errors.Is(err, want) {
				t.Fatalf("PostTurn: %v, the model says %v", err, want)
			}
		},
		"add": func(t *rapid.T) {
			item := rapid.IntRange(0, 12).Draw(t, "item")
			ctx, cancel := context.WithCancel(ctx)
			calls++
			go func() { ended <- g.PostWait(ctx, item) }()
			synctest.Wait()
			m.offer(item, cancel)
		},
		"release": func(t *rapid.T) {
			if !m.busy {
				return
			}
			h.release <- nil
			m.busy = false
			m.settle(time.Now())
		},
		"time": func(t *rapid.T) {
			time.Sleep(time.Duration(rapid.IntRange(1, 12).Draw(t, "ticks")) * tick)
			m.settle(time.Now()) // nothing is offered meanwhile, so at most one group left
		},
		"flush": func(t *rapid.T) {
			calls++
			go func() { ended <- g.Flush(ctx) }()
			synctest.Wait()
			m.flushed = len(m.waiting)
			m.settle(time.Now())
		},
		"give up": func(t *rapid.T) {
			if len(m.blocked) == 0 {
				return
			}
			i := rapid.IntRange(0, len(m.blocked)-1).Draw(t, "who")
			m.blocked[i].giveUp()
			synctest.Wait()
			m.blocked = slices.Delete(m.blocked, i, i+1)
			m.letIn()
			m.settle(time.Now())
		},
	})
}

func FuzzGroupsAreThoseOfTheModel(f *testing.F) {
	for n := range 4 { // each eight bytes are one decision
		f.Add(bytes.Repeat([]byte{byte(n), 0, 0, 0, 0, 0, 0, byte(0x35 * n)}, 64<<n))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		synctest.Test(t, func(t *testing.T) { rapid.MakeFuzz(agreesWithModel)(t, input) })
	})
}

// The wrapping hides t.Deadline from rapid: it must not be called within a bubble.
func TestGroupsAreThoseOfTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { rapid.Check(struct{ rapid.TB }{t}, agreesWithModel) })
}
