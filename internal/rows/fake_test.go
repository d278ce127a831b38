package rows

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// scripted is a database in memory, with one table of k (a key) and v, that fails as it is told. What real databases do
// is package rowstest's.
type scripted struct {
	mu      sync.Mutex
	table   *Table                      // nil: there is none
	rows    map[int64]string            // by k
	bad     map[int64]bool              // keys that are refused
	named   bool                        // a refused row is named
	fails   []error                     // of the next writes
	open    func() error                // of an opening
	create  error                       // of making the table
	write   func(context.Context) error // instead of writing
	lost    bool                        // the answer to the next commit, of a mode that finds rows
	opens   int
	writes  int
	sent    int       // rows
	live    int       // sessions
	columns []*Column // the first column of each block, as drivers keep them
}

// fault is an error that says itself how it is judged.
type fault struct{ Fault }

func (f fault) Error() string { return "scripted: " + f.Class.String() }

func failure(c Class, broken bool) error { return fault{Fault{Class: c, Row: -1, Broken: broken}} }

func table() *Table {
	return &Table{Name: Name{"t"}, Columns: []Column{{Name: "k", Kind: Int, Bits: 64, Key: true, Unique: true},
		{Name: "v", Kind: Text, Nullable: true}}}
}

func newScripted() *scripted {
	return &scripted{table: table(), rows: map[int64]string{}, bad: map[int64]bool{}}
}

func (d *scripted) Open(ctx context.Context) (Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opens++
	if d.open != nil {
		if err := d.open(); err != nil {
			return nil, err
		}
	}
	d.live++
	return &scriptedSession{d: d}, ctx.Err()
}

func (d *scripted) Judge(err error) Fault {
	if f := (fault{}); errors.As(err, &f) {
		return f.Fault
	}
	return Fault{Class: Away, Row: -1, Broken: true}
}

func (d *scripted) Close() error { return nil }

type scriptedSession struct {
	d      *scripted
	closed bool
}

func (s *scriptedSession) Describe(ctx context.Context, n Name) (*Table, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.table == nil {
		return nil, fmt.Errorf("no table %s: %w", n, failure(NoTable, false))
	}
	t := *s.d.table
	t.Columns = append([]Column(nil), t.Columns...)
	return &t, ctx.Err()
}

func (s *scriptedSession) Create(_ context.Context, t *Table) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.create != nil {
		return s.d.create
	}
	s.d.table = t
	return nil
}

func (s *scriptedSession) Write(ctx context.Context, b *Block) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed {
		panic("a closed session is used")
	}
	if d.write != nil {
		return d.write(ctx)
	}
	d.writes++
	d.sent += b.Rows()
	d.columns = append(d.columns, &b.Columns[0])
	if len(d.fails) > 0 {
		err := d.fails[0]
		d.fails = d.fails[1:]
		if err != nil {
			return err
		}
	}
	if b.Mode.Finds() {
		return d.find(b)
	}
	now := maps.Clone(d.rows)
	for i := range b.Rows() {
		k, v := b.Row(i)[0].Int(), ""
		if len(b.Columns) > 1 {
			v = b.Row(i)[1].Text()
		}
		if _, there := now[k]; d.bad[k] || there && b.Mode == Insert {
			f := Fault{Class: BadRow, Row: -1}
			if d.named {
				f.Row = i
			}
			return fmt.Errorf("row %d: %w", k, fault{f})
		}
		if _, there := now[k]; !there || b.Mode == Upsert {
			now[k] = v
		}
	}
	d.rows = now
	return nil
}

// find is Write of modes that change the rows that are there.
func (d *scripted) find(b *Block) error {
	for i := range b.Rows() {
		k := b.Row(i)[0].Int()
		if _, there := d.rows[k]; !there {
			b.Miss(i)
			continue
		}
		if b.Mode == Delete {
			delete(d.rows, k)
		} else {
			d.rows[k] = b.Row(i)[1].Text()
		}
	}
	if d.lost {
		d.lost = false
		return failure(Unknown, true)
	}
	return nil
}

func (s *scriptedSession) Close() error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.closed {
		panic("a session is closed twice")
	}
	s.closed = true
	s.d.live--
	return nil
}

// begin makes and starts a sink, and sees at its end that no session is left.
func begin(t *testing.T, d *scripted, c Config) *Sink {
	t.Helper()
	c.Table = []string{"t"}
	s, err := New(d, c, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if d.live != 0 {
			t.Errorf("%d sessions are left open", d.live)
		}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func messages(from, to int) []*message.Message {
	var batch []*message.Message
	for k := from; k < to; k++ {
		batch = append(batch, &message.Message{Body: fmt.Appendf(nil, `{"k":%d,"v":"v%d"}`, k, k)})
	}
	return batch
}

func sent(t *testing.T, s *Sink, batch []*message.Message) []component.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	outcomes, err := s.Send(ctx, batch)
	if err != nil || len(outcomes) != len(batch) {
		t.Fatal(len(outcomes), err)
	}
	return outcomes
}

// all wants one verdict for every message.
func all(t *testing.T, outcomes []component.Outcome, v component.Verdict) {
	t.Helper()
	for i, o := range outcomes {
		if o.Verdict != v {
			t.Fatalf("message %d: %v, not %v, because %v", i, o.Verdict, v, o.Reason)
		}
	}
}
