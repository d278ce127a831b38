package queue

import (
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

// TestLayoutsTakeAfterARestartWhatTheyTookBefore alters columns again and again with a message before each time, so
// that a layout remembers each alteration: what they take in memory is about what counts, and no more after a restart;
// nor is a checkpoint longer.
func TestLayoutsTakeAfterARestartWhatTheyTookBefore(t *testing.T) {
	const many, others = 100, 512 << 10 // others: what a store takes beside, and other tests left
	long := "[" + strings.Repeat("1,", 10_000) + "1]"
	members := func(n int) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, ",'member %d of %d'", i, (n+i)/(i+1))
		}
		return "e enum('always'" + b.String() + ")"
	}
	kinds := map[string]func(n int) []string{
		"a long value from before": func(n int) []string {
			texts := []string{"a int", fmt.Sprintf("b varchar(%d)", 1000-n)}
			if n == many-1 {
				texts = append(texts, "c varchar(30000) default '"+long+"'")
			}
			return texts
		},
		"a long value that is converted": func(n int) []string {
			texts := []string{"a int", fmt.Sprintf("b varchar(%d)", 1000-n)}
			switch n {
			case many - 2:
				texts = append(texts, "c varchar(30000) default '"+long+"'")
			case many - 1:
				texts = append(texts, "c json")
			}
			return texts
		},
		"many types": func(n int) []string {
			return []string{"a int", fmt.Sprintf("b varchar(%d)", 1000-n)}
		},
		"many members": func(n int) []string { return []string{"a int", members(n)} },
		"many columns": func(n int) []string {
			texts := []string{"a int"}
			for i := range 30 {
				texts = append(texts, fmt.Sprintf("b%d varchar(%d)", i, 1000-n))
			}
			return texts
		},
	}
	names := slices.Sorted(maps.Keys(kinds))
	for _, name := range sampletest.Of(t, amount(len(names), len(names), 2), names...) {
		columns := kinds[name]
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			start := func() (*Store, func()) {
				j, err := file.Open(t.Context(), file.Options{Dir: dir, Durability: journal.None})
				if err != nil {
					t.Fatal(err)
				}
				s, err := Open(t.Context(), Options{Journal: j})
				if err != nil {
					t.Fatal(err)
				}
				return s, func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					j.Close()
				}
			}
			heap := func() int64 {
				for range 3 { // what pools keep outlives two
					runtime.GC()
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			counts := func(s *Store) int64 { counted, _ := countedMemory(s); return counted }
			_, end := start()
			end()
			before := heap()
			var s *Store
			s, end = start()
			if _, err := s.CreateQueue(t.Context(), news, Definition{Columns: columnsOf(t, "a int")}); err != nil {
				t.Fatal(err)
			}
			for n := range many {
				d, _, err := s.Definition(t.Context(), news)
				if err != nil {
					t.Fatal(err)
				}
				row := make([]message.Value, len(d.Columns))
				for i := range row {
					row[i] = message.String("always")
				}
				if row[0] = message.Int(int64(n)); len(row) == 3 {
					row[2] = message.String("{}")
				}
				mustPut(t, s, news, message.Message{Row: row})
				d.Columns = columnsOf(t, columns(n)...)
				if err := s.AlterQueue(t.Context(), news, d); err != nil {
					t.Fatal(err)
				}
			}
			took, counted := heap()-before, counts(s)
			t.Logf("they take %d bytes and count %d", took, counted)
			if counted < (took-others)/3 || counted > 2*took+others {
				t.Errorf("they take %d bytes and count %d", took, counted)
			}
			if n := int64(len(appendLayouts(nil, s.state.queueNames[news].layouts))); n > counted {
				t.Errorf("a checkpoint has %d bytes of what counts %d in memory", n, counted)
			}
			end()
			s = nil
			s, end = start()
			defer end()
			again, countedAgain := heap()-before, counts(s)
			t.Logf("after a restart they take %d bytes and count %d", again, countedAgain)
			if again > took*5/4+others {
				t.Errorf("they take %d bytes, and %d after a restart", took, again)
			}
			if countedAgain != counted {
				t.Errorf("they count %d bytes, and %d after a restart", counted, countedAgain)
			}
			runtime.KeepAlive(s)
		})
	}
}
