package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errDown = component.RetryError(0, errors.New("the database is away"))
	errFull = errors.New("no room")
)

// notes is a memory that lives as long as the test does, whatever happens to those who write it.
type notes struct {
	mu   sync.Mutex
	all  map[string][]byte
	sets int
	fail func() error
}

func newNotes() *notes { return &notes{all: map[string][]byte{}} }

func (n *notes) KeepNotes(_ context.Context, some ...queue.Note) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		if err := n.fail(); err != nil {
			return err
		}
	}
	n.sets++
	for _, one := range some {
		switch {
		case one.Value == nil:
			delete(n.all, one.Key)
		case len(one.Value) > queue.MaxNoteBytes:
			return fmt.Errorf("the note %s has %d bytes", one.Key, len(one.Value))
		default:
			n.all[one.Key] = slices.Clone(one.Value)
		}
	}
	return nil
}

func (n *notes) Notes(_ context.Context, room string) (list []queue.Note, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, value := range n.all {
		list = append(list, queue.Note{Room: room, Key: key, Value: append([]byte{}, value...)})
	}
	slices.SortFunc(list, func(a, b queue.Note) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return list, nil
}

func (n *notes) size() (count, bytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, v := range n.all {
		count, bytes = count+1, bytes+len(v)
	}
	return count, bytes
}

// table is a source that a test can change.
type table struct {
	config *Config
	resume bool

	mu   sync.Mutex
	ids  []int // in order
	fail func(id int) error
	read int
}

func (*table) start(context.Context) error { return nil }
func (*table) close() error                { return nil }
func (s *table) resumes() bool             { return s.resume }

func (s *table) pages(_ context.Context, _ *message.Message, after json.RawMessage, take func([]item) error) error {
	from := -1
	if s.resume && after != nil {
		v, _ := fetch.Scalar(after)
		from = int(v.AsInt())
	}
	for {
		items, err := s.page(from)
		if len(items) == 0 || err != nil && !s.resume {
			return err
		}
		if err := errors.Join(take(items), err); err != nil {
			return err
		}
		v, _ := fetch.Scalar(items[len(items)-1].row[0].JSON)
		from = int(v.AsInt())
	}
}

// page reads up to a page, or to the id that cannot be read.
func (s *table) page(from int) (items []item, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.ids {
		if id <= from {
			continue
		}
		if len(items) == s.config.Page {
			break
		}
		if s.fail != nil {
			if err = s.fail(id); err != nil {
				break
			}
		}
		s.read++
		row := fetch.Row{{Name: "id", JSON: json.RawMessage(fmt.Sprint(id))}}
		items = append(items, item{row.AppendJSON(nil), row})
	}
	if err != nil {
		return nil, err // half a page is none
	}
	return items, nil
}

func upTo(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i + 1
	}
	return ids
}

// begin starts a Fanout over a table and notes.
func begin(t tester, c Config, n *notes, s *table) *Fanout {
	t.Helper()
	c.Source.Type = "body" // checked only
	if c.Key == "" {
		c.Key = "id"
	}
	made, err := New(c, component.Env{Name: "users"})
	if err != nil {
		t.Fatal(err)
	}
	f := made.(*Fanout)
	s.config, f.source = &f.config, s
	if n != nil {
		f.memory, f.origin = n, "fanout users"
	}
	if err := f.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return f
}

// tester is what tests and property tests have in common.
type tester interface {
	Helper()
	Fatal(...any)
}

// port takes deliveries and settles them when the test says so.
type port struct {
	mu    sync.Mutex
	taken []component.Delivery
	full  func(body string) error
	auto  bool // settles at once
}

func (p *port) Send(ctx context.Context, d component.Delivery) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full != nil {
		if err := p.full(string(d.Message.Body)); err != nil {
			return err
		}
	}
	p.taken = append(p.taken, d)
	if p.auto {
		d.Settle(component.OK(time.Time{}))
	}
	return ctx.Err()
}

func (p *port) bodies() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.taken {
		all = append(all, string(d.Message.Body))
	}
	return all
}

// ordered is a message that is told what became of it.
type ordered struct {
	message *message.Message
	told    chan component.Outcome
}

func newCampaign() *ordered {
	return &ordered{&message.Message{ID: message.NewID(), Body: []byte(`{"campaign":42}`), Key: "k", Dedup: "d"},
		make(chan component.Outcome, 10)}
}

func (c *ordered) delivery() component.Delivery {
	return component.Delivery{Message: c.message, Queue: "default/campaigns",
		Settle: func(o component.Outcome) { c.told <- o }}
}

// verdict waits for what became of it.
func (c *ordered) verdict(t testing.TB) component.Verdict {
	t.Helper()
	select {
	case o := <-c.told:
		return o.Verdict
	case <-time.After(time.Minute):
		t.Fatal("it was never settled")
		return 0
	}
}

// quickTable is a table of the numbers from 1 on that finds its pages without a search.
type quickTable struct{ *table }

func (s *quickTable) pages(_ context.Context, _ *message.Message, _ json.RawMessage, take func([]item) error) error {
	for ids := range slices.Chunk(s.ids, s.config.Page) {
		items := make([]item, len(ids))
		for i, id := range ids {
			if err := s.fail(id); err != nil {
				return err
			}
			row := fetch.Row{{Name: "id", JSON: json.RawMessage(fmt.Sprint(id))}}
			items[i] = item{row.AppendJSON(nil), row}
		}
		if err := take(items); err != nil {
			return err
		}
	}
	return nil
}
