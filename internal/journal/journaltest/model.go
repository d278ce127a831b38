package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// model is a journal as a slice, and a reader of it that remembers what it released.
type model struct {
	j        journal.Journal
	groups   []scanned // with bodies
	released map[journal.Address]bool
	at       journal.Position // of the newest checkpoint
	older    journal.Position // of the one before
	saved    bool
}

// testModel does random things to one log and compares it with a slice, through many reopenings. Each drawn case goes
// on where the last one ended: a long life finds more than many short ones.
func testModel(t *testing.T, h Harness) {
	m := &model{j: open(t, h), released: map[journal.Address]bool{}}
	defer func() { shut(t, m.j) }()
	m.j.Keep(slices.Values([]journal.Address(nil)))
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		r.Repeat(map[string]func(*rapid.T){
			"append": func(r *rapid.T) {
				var records []journal.Record
				for range rapid.IntRange(1, 5).Draw(r, "records") {
					n++
					if rapid.Bool().Draw(r, "passing") {
						records = append(records, settle(n))
					} else {
						records = append(records, message(n, rapid.IntRange(0, 3000).Draw(r, "size")))
					}
				}
				m.add(r, records, rapid.Bool().Draw(r, "wait"))
			},
			"release": func(r *rapid.T) {
				if len(m.groups) == 0 {
					return
				}
				a := m.address(r)
				m.released[a] = true
				m.j.Release(a)
			},
			"release before": func(r *rapid.T) {
				if len(m.groups) == 0 {
					return
				}
				p := m.address(r).Position
				m.j.ReleaseBefore(p)
				m.release(func(a journal.Address) bool { return a.Position < p })
			},
			"read":       m.read,
			"checkpoint": m.checkpoint,
			"reopen": func(r *rapid.T) {
				if err := m.j.Close(); err != nil {
					r.Fatal(err)
				}
				j, err := h.Open()
				if err != nil {
					r.Fatal(err)
				}
				m.j = j
				m.scan(r)
				j.Keep(m.live())
			},
			"scan": m.scan,
		})
	})
}

func (m *model) add(r *rapid.T, records []journal.Record, wait bool) {
	var p journal.Position
	var err error
	if wait {
		p, err = appendSync(m.j, records)
	} else {
		err = m.j.Write(records)
		p = m.j.End()
	}
	if err != nil {
		r.Fatal(err)
	}
	if k := len(m.groups); k > 0 && p <= m.groups[k-1].Position {
		r.Fatalf("position %d follows %d", p, m.groups[k-1].Position)
	}
	m.groups = append(m.groups, scanned{p, records})
}

// address draws one of the addresses there ever were, mostly a late one.
func (m *model) address(r *rapid.T) journal.Address {
	from := max(0, len(m.groups)-rapid.SampledFrom([]int{10, 100, 1 << 30}).Draw(r, "how far back"))
	g := m.groups[rapid.IntRange(from, len(m.groups)-1).Draw(r, "group")]
	return journal.Address{Position: g.Position, Index: uint32(rapid.IntRange(0, len(g.Records)-1).Draw(r, "index"))}
}

func (m *model) release(which func(journal.Address) bool) {
	for _, g := range m.groups {
		for i := range g.Records {
			if a := (journal.Address{Position: g.Position, Index: uint32(i)}); which(a) {
				m.released[a] = true
			}
		}
	}
}

// live lists what is still needed.
func (m *model) live() func(yield func(journal.Address) bool) {
	return func(yield func(journal.Address) bool) {
		for _, g := range m.groups {
			for i, r := range g.Records {
				a := journal.Address{Position: g.Position, Index: uint32(i)}
				if r.Life == journal.Lasting && !m.released[a] && !yield(a) {
					return
				}
			}
		}
	}
}

// read draws addresses and compares what they answer.
func (m *model) read(r *rapid.T) {
	if len(m.groups) == 0 {
		return
	}
	var addrs []journal.Address
	for range rapid.IntRange(1, 10).Draw(r, "addresses") {
		addrs = append(addrs, m.address(r))
	}
	answered := 0
	err := m.j.Read(r.Context(), addrs, func(i int, got journal.Record, err error) {
		answered++
		a := addrs[i]
		k, _ := slices.BinarySearchFunc(m.groups, a.Position, func(g scanned, p journal.Position) int {
			return journal.Address{Position: g.Position}.Compare(journal.Address{Position: p})
		})
		want := m.groups[k].Records[a.Index]
		mayBeGone := m.released[a] || want.Life == journal.Passing && a.Position <= m.older
		switch {
		case err == nil && sameRecord(got, want):
		case errors.Is(err, journal.ErrReleased) && mayBeGone:
		default:
			r.Fatalf("read %v: %v, released: %t", a, err, m.released[a])
		}
	})
	if err != nil || answered != len(addrs) {
		r.Fatalf("read answered %d of %d: %v", answered, len(addrs), err)
	}
}

// scan compares the log behind the older checkpoint, all of which has to be there, with the model.
func (m *model) scan(r *rapid.T) {
	at, err := m.load(r)
	if err != nil {
		r.Fatal(err)
	}
	if at != m.at {
		r.Fatalf("loaded the checkpoint at %d, not %d", at, m.at)
	}
	var want []scanned
	for _, g := range m.groups {
		if g.Position > m.older {
			want = append(want, g)
		}
	}
	i := 0
	for g, err := range m.j.Scan(r.Context(), m.older) {
		if err != nil {
			r.Fatal(err)
		}
		if i == len(want) || g.Position != want[i].Position || len(g.Records) != len(want[i].Records) {
			r.Fatalf("step %d of %d of the scan is the group at %d", i, len(want), g.Position)
		}
		for k, got := range g.Records {
			w := want[i].Records[k]
			w.Body = nil
			if !sameRecord(got, w) {
				r.Fatalf("record %d of the group at %d differs", k, g.Position)
			}
		}
		i++
	}
	if i != len(want) {
		r.Fatalf("scan ended after %d groups of %d", i, len(want))
	}
}

func (m *model) checkpoint(r *rapid.T) {
	at := m.j.End()
	state := fmt.Appendf(nil, "state at %d", at)
	err := m.j.SaveCheckpoint(r.Context(), at, func(w io.Writer) error {
		_, err := w.Write(state)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	if m.saved {
		m.older = m.at
	}
	m.at, m.saved = at, true
}

func (m *model) load(r *rapid.T) (journal.Position, error) {
	at, content, _, err := m.j.LoadCheckpoint(r.Context())
	if errors.Is(err, journal.ErrNoCheckpoint) && !m.saved {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	b, err := io.ReadAll(content)
	if err == nil && !bytes.Equal(b, fmt.Appendf(nil, "state at %d", at)) {
		err = fmt.Errorf("the checkpoint at %d holds %q", at, b)
	}
	return at, errors.Join(err, content.Close())
}
