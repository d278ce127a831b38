package queue

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// definitionsOf are definitions of different kinds: what the nth of them makes.
var definitionsOf = map[string]func(t *testing.T, s *Store, n int) error{
	"empty queues": func(t *testing.T, s *Store, n int) error {
		_, err := s.CreateQueue(t.Context(), Name{"default", fmt.Sprintf("queue-%d", n)}, Definition{})
		return err
	},
	"long names": func(t *testing.T, s *Store, n int) error {
		_, err := s.CreateQueue(t.Context(), Name{strings.Repeat("n", 200) + fmt.Sprint(n),
			strings.Repeat("q", 200) + fmt.Sprint(n)}, Definition{})
		return err
	},
	"columns": func(t *testing.T, s *Store, n int) error {
		columns := make([]string, 50)
		for i := range columns {
			columns[i] = fmt.Sprintf("column_%d varchar(%d) default 'nothing'", i, n%1000+10)
		}
		parsed, err := message.ParseColumns(columns)
		if err == nil {
			_, err = s.CreateQueue(t.Context(), Name{"default", fmt.Sprintf("queue-%d", n)},
				Definition{Columns: parsed})
		}
		return err
	},
	"labels": func(t *testing.T, s *Store, n int) error {
		_, err := s.CreateQueue(t.Context(), Name{"default", fmt.Sprintf("queue-%d", n)}, Definition{
			Labels: labelsFor(n)})
		return err
	},
	"topics": func(t *testing.T, s *Store, n int) error {
		_, err := s.CreateTopic(t.Context(), Name{"default", fmt.Sprintf("topic-%d", n)}, nil)
		return err
	},
	"labels of topics": func(t *testing.T, s *Store, n int) error {
		_, err := s.CreateTopic(t.Context(), Name{"default", fmt.Sprintf("topic-%d", n)}, labelsFor(n))
		return err
	},
	"filters": func(t *testing.T, s *Store, n int) error {
		if n == 0 {
			if _, err := s.CreateTopic(t.Context(), Name{"default", "t"}, nil); err != nil {
				return err
			}
		}
		filter := strings.Repeat(fmt.Sprintf("kind = 'k%d' or size >= %d or ", n, n), 50) + "a = 1"
		_, err := s.CreateQueue(t.Context(), Name{"default", fmt.Sprintf("queue-%d", n)}, Definition{Topic: "t",
			Filter: filter})
		return err
	},
	"snapshots": func(t *testing.T, s *Store, n int) error {
		if n == 0 {
			if _, err := s.CreateQueue(t.Context(), Name{"default", "q"}, Definition{}); err != nil {
				return err
			}
		}
		_, err := s.TakeSnapshot(t.Context(), Name{"default", fmt.Sprintf("snapshot-%d", n)}, Name{"default", "q"},
			SnapshotOptions{Labels: labelsFor(n)})
		return err
	},
}

func labelsFor(n int) map[string]string {
	labels := map[string]string{}
	for i := range 20 {
		labels[fmt.Sprintf("label-%d", i)] = strings.Repeat("v", 50) + fmt.Sprint(n)
	}
	return labels
}

// TestDefinitionsCountAboutWhatTheyTakeInMemory: of whatever kind.
func TestDefinitionsCountAboutWhatTheyTakeInMemory(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(definitionsOf))
	for _, name := range sampletest.Of(t, amount(len(kinds), len(kinds), 2), kinds...) {
		define := definitionsOf[name]
		t.Run(name, func(t *testing.T) {
			j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.None})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			s, err := Open(t.Context(), Options{Journal: j})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			heap := func() int64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			counted := func() int64 {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.state.resident + s.state.idBytes
			}
			if err := define(t, s, 0); err != nil {
				t.Fatal(err)
			}
			const many = 500
			took, counts := heap(), counted()
			for n := range many {
				if err := define(t, s, n+1); err != nil {
					t.Fatal(err)
				}
			}
			took, counts = heap()-took, counted()-counts
			t.Logf("each takes %d bytes and counts %d", took/many, counts/many)
			if counts < took*2/3 || counts > took*3 {
				t.Errorf("%d of them take %d bytes and count %d", many, took, counts)
			}
			runtime.KeepAlive(s)
		})
	}
}

// TestDefinitionsAreRefusedWhenMemoryIsFull, as messages are, until some are deleted; what takes no more than before
// passes, and so does a dead-letter queue that is needed.
func TestDefinitionsAreRefusedWhenMemoryIsFull(t *testing.T) {
	for name, define := range definitionsOf {
		t.Run(name, func(t *testing.T) {
			s := open(t, newMemory(), func(o *Options) { o.Limits.Memory = 400_000 })
			var full *FullError
			for n := 0; full == nil; n++ {
				if err := define(t, s, n); err != nil && !errors.As(err, &full) || n > 1000 {
					t.Fatalf("%d: %v", n, err)
				}
			}
			if full.Bound != "bytes of memory" || full.Name != (Name{}) || !errors.Is(full, ErrQueueFull) {
				t.Errorf("it was refused with %v", full)
			}
			if err := define(t, s, 1001); !errors.Is(err, ErrQueueFull) {
				t.Errorf("another one: %v", err)
			}
		})
	}
}

func TestWhatAlterationsAddIsRefusedWhenMemoryIsFull(t *testing.T) {
	s := open(t, newMemory(), func(o *Options) { o.Limits.Memory = 100_000 })
	q := Name{"default", "q"}
	columns := func(n int) (d Definition) {
		texts := []string{"a int"}
		for i := range n {
			texts = append(texts, fmt.Sprintf("column_%d int", i))
		}
		var err error
		if d.Columns, err = message.ParseColumns(texts); err != nil {
			t.Fatal(err)
		}
		return d
	}
	if _, err := s.CreateQueue(t.Context(), q, columns(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), q, []message.Message{{Row: []message.Value{message.Int(1)}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AlterQueue(t.Context(), q, columns(1000)); !errors.Is(err, ErrQueueFull) {
		t.Errorf("1,000 columns: %v", err)
	}
	altered := 0
	for ; altered < maxLayouts; altered++ { // each shows the message by one value for each column
		if err := s.AlterQueue(t.Context(), q, columns(100+altered%2)); err != nil {
			if !errors.Is(err, ErrQueueFull) {
				t.Fatal(err)
			}
			break
		}
		row := make([]message.Value, 101+altered%2)
		for i := range row {
			row[i] = message.Int(1)
		}
		if _, err := s.Put(t.Context(), q, []message.Message{{Row: row}}); err != nil {
			t.Fatal(err)
		}
	}
	if altered < 2 || altered == maxLayouts {
		t.Errorf("%d alterations were made", altered)
	}
	if err := s.AlterQueue(t.Context(), q, columns(0)); err != nil {
		t.Errorf("fewer columns: %v", err)
	}
}

func TestDeletedDefinitionsMakeRoom(t *testing.T) {
	s := open(t, newMemory(), func(o *Options) { o.Limits.Memory = 100_000 })
	for range 3 {
		made := 0
		for ; made < 1000; made++ {
			n := Name{"default", fmt.Sprintf("q%d", made)}
			if _, err := s.CreateQueue(t.Context(), n, Definition{Labels: labelsFor(made)}); err != nil {
				break
			}
		}
		if made < 5 || made == 1000 {
			t.Fatalf("%d queues were made", made)
		}
		if err := s.AlterQueue(t.Context(), Name{"default", "q0"}, Definition{}); err != nil {
			t.Errorf("a queue with fewer labels: %v", err)
		}
		for n := range made {
			if err := s.DeleteQueue(t.Context(), Name{"default", fmt.Sprintf("q%d", n)}); err != nil {
				t.Fatal(err)
			}
		}
		s.mu.Lock()
		if s.state.resident != 0 || s.state.reservedResident != 0 {
			t.Errorf("%d bytes are counted, %d reserved", s.state.resident, s.state.reservedResident)
		}
		s.mu.Unlock()
	}
}

// TestADeadLetterQueueIsMadeWhenMemoryIsFull: else what cannot be delivered would stay for good.
func TestADeadLetterQueueIsMadeWhenMemoryIsFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.Limits.Memory = 400_000 })
		q := Name{"default", "q"}
		if _, err := s.Put(t.Context(), q, []message.Message{{Body: []byte("a")}}); err != nil {
			t.Fatal(err)
		}
		fillWithNotes(t, s)
		for n := 0; s.SetNotes(t.Context(), sized(fmt.Sprintf("small%d", n), 10)) == nil; n++ {
		}
		claims, err := s.Claim(t.Context(), ClaimRequest{From: from(q)})
		if err != nil || len(claims) != 1 {
			t.Fatalf("%d claims, %v", len(claims), err)
		}
		errs, err := s.Settle(t.Context(), []Settlement{{Token: claims[0].Token, Kind: Dead, Reason: "no more"}})
		if err != nil || errs[0] != nil {
			t.Errorf("a dead letter: %v, %v", errs, err)
		}
	})
}
