package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// counted is what counts in Limits.Memory, and what is reserved of it.
func countedMemory(s *Store) (counted, reserved int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.resident + s.state.idBytes, s.state.reservedResident
}

// TestADefinitionReservesWhatItWillCount looks, while each of some changes of definitions is on its way to the journal,
// whether there is memory reserved for what it counts then, and no more; and that none is once the journal refused it.
func TestADefinitionReservesWhatItWillCount(t *testing.T) {
	long := strings.Repeat("n", 200)
	renamed := Name{long, long}
	named := func(n string) Name { return Name{DefaultNamespace, n} }
	columns := func(texts ...string) func(t *testing.T, s *Store) error {
		return func(t *testing.T, s *Store) error {
			return s.AlterQueue(t.Context(), named("rows"), Definition{Columns: columnsOf(t, texts...)})
		}
	}
	for what, do := range map[string]func(t *testing.T, s *Store) error{
		"a queue": func(t *testing.T, s *Store) error {
			_, err := s.CreateQueue(t.Context(), renamed, Definition{Labels: labelsFor(1)})
			return err
		},
		"a topic": func(t *testing.T, s *Store) error {
			_, err := s.CreateTopic(t.Context(), renamed, labelsFor(1))
			return err
		},
		"a topic again": func(t *testing.T, s *Store) error {
			_, err := s.CreateTopic(t.Context(), named("t"), labelsFor(1))
			return err
		},
		"a snapshot": func(t *testing.T, s *Store) error {
			_, err := s.TakeSnapshot(t.Context(), named("new"), named("rows"), SnapshotOptions{Labels: labelsFor(1)})
			return err
		},
		"labels": func(t *testing.T, s *Store) error {
			return s.AlterQueue(t.Context(), named("a"), Definition{Labels: labelsFor(1)})
		},
		"a longer name": func(t *testing.T, s *Store) error { return s.RenameQueue(t.Context(), named("a"), renamed) },
		"a longer name of a queue with dead letters": func(t *testing.T, s *Store) error {
			return s.RenameQueue(t.Context(), named("grave"), renamed)
		},
		"the last but one name": func(t *testing.T, s *Store) error {
			return s.RenameQueue(t.Context(), named("often8"), named("often7"))
		},
		"one name more": func(t *testing.T, s *Store) error {
			return s.RenameQueue(t.Context(), named("often8"), renamed)
		},
		"a column":        columns("a text not null", "b int", "c int"),
		"a long value":    columns("a text not null", "b int", "c text default '"+strings.Repeat("c", 9999)+"'"),
		"other types":     columns("a longblob", "b varchar(20)"),
		"another order":   columns("b int", "a text not null"),
		"fewer columns":   columns("a text not null"),
		"no other column": columns("a text not null", "b int"),
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := newMemory()
				s := open(t, m)
				define := func(n Name, d Definition) {
					if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
						t.Fatal(err)
					}
				}
				define(named("rows"), Definition{Columns: columnsOf(t, "a varchar(100) not null")})
				for i := range 5 { // with rows of several layouts
					mustPut(t, s, named("rows"), text(fmt.Sprintf(`{"a": "%d"}`, i))...)
					err := s.AlterQueue(t.Context(), named("rows"), Definition{
						Columns: columnsOf(t, fmt.Sprintf("a varchar(%d) not null", 110-i))})
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := columns("a text not null", "b int")(t, s); err != nil {
					t.Fatal(err)
				}
				mustPut(t, s, named("rows"), text(strings.Repeat(`{"a": "x"}`, 1))...)
				if _, err := s.CreateTopic(t.Context(), named("t"), nil); err != nil {
					t.Fatal(err)
				}
				for _, n := range []string{"a", "grave", "often0"} {
					define(named(n), Definition{})
				}
				for i := range 8 {
					if err := s.RenameQueue(t.Context(), named(fmt.Sprint("often", i)),
						named(fmt.Sprint("often", i+1))); err != nil {
						t.Fatal(err)
					}
				}
				for i := range 300 {
					define(named(fmt.Sprint("dying", i)), Definition{DeadLetter: "grave"})
				}
				m.Refuse(true)
				before, _ := countedMemory(s)
				if err := do(t, s); err == nil && what != "no other column" {
					t.Error("the journal refused it, and yet it is done")
				}
				if counted, reserved := countedMemory(s); counted != before || reserved != 0 {
					t.Errorf("the journal refused it: %d bytes more are counted, %d reserved", counted-before, reserved)
				}
				m.Refuse(false)
				m.hold(true)
				done := make(chan error)
				go func() { done <- do(t, s) }()
				synctest.Wait()
				_, reserved := countedMemory(s)
				m.hold(false)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				counted, left := countedMemory(s)
				if grown := max(0, counted-before); reserved != grown {
					t.Errorf("%d bytes were reserved, and it counts %d more", reserved, grown)
				}
				if left != 0 {
					t.Errorf("%d bytes stay reserved", left)
				}
			})
		})
	}
}

// TestARenameIsRefusedWhenMemoryIsFull, where the queues whose dead letters go to the renamed one would take too much.
func TestARenameIsRefusedWhenMemoryIsFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.Limits.Memory = 300_000 })
		grave := Name{DefaultNamespace, "grave"}
		if _, err := s.CreateQueue(t.Context(), grave, Definition{}); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if _, err := s.CreateQueue(t.Context(), Name{DefaultNamespace, fmt.Sprint("q", i)},
				Definition{DeadLetter: "grave"}); err != nil {
				t.Fatal(err)
			}
		}
		long := Name{strings.Repeat("n", 255), strings.Repeat("q", 255)}
		for i := 0; i < 10; i++ {
			long.Name = long.Name[1:]
			err := s.RenameQueue(t.Context(), grave, long)
			if errors.Is(err, ErrQueueFull) {
				break
			}
			if err != nil || i == 9 {
				t.Fatalf("with 100 queues whose dead letters go there: %v", err)
			}
			if err := s.RenameQueue(t.Context(), long, grave); err != nil {
				t.Errorf("to a shorter name: %v", err)
			}
			if _, err := s.CreateQueue(t.Context(), Name{DefaultNamespace, fmt.Sprint("more", i)},
				Definition{DeadLetter: "grave", Labels: labelsFor(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if d, _, err := s.Definition(t.Context(), Name{DefaultNamespace, "q0"}); err != nil ||
			d.DeadLetter != grave.String() {
			t.Errorf("dead letters go to %s, %v", d.DeadLetter, err)
		}
		if err := s.RenameQueue(t.Context(), grave, Name{DefaultNamespace, "g"}); err != nil {
			t.Errorf("to a shorter name: %v", err)
		}
	})
}

// TestMemoryIsCountedAlikeAfterManyAlterationsAndRenames alters and renames queues many times, also while the journal
// refuses it: what is counted is then what a restart counts, which knows none of it.
func TestMemoryIsCountedAlikeAfterManyAlterationsAndRenames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m, func(o *Options) { o.Limits.Memory = 1 << 30 })
		r := rand.New(rand.NewPCG(1, 2))
		const queues, graves = 20, 3
		names := make([]Name, 0, queues+graves)
		for i := range queues + graves {
			names = append(names, Name{DefaultNamespace, fmt.Sprint("q", i)})
			d := Definition{DeadLetter: fmt.Sprint("q", queues+i%graves)}
			if i >= queues {
				d.DeadLetter = ""
			} else if i < 3 {
				d.Columns = columnsOf(t, "c0 varchar(20)")
			}
			if _, err := s.CreateQueue(t.Context(), names[i], d); err != nil {
				t.Fatal(err)
			}
		}
		steps, refused := amount(10_000, 10_000, 2_500), 0
		for range steps {
			m.Refuse(r.IntN(4) == 0)
			i := r.IntN(len(names))
			var err error
			switch k := r.IntN(4); {
			case k == 0:
				to := Name{DefaultNamespace, strings.Repeat("n", 1+r.IntN(200)) + fmt.Sprint(r.IntN(5))}
				if err = s.RenameQueue(t.Context(), names[i], to); err == nil {
					names[i] = to
				} else if errors.Is(err, ErrExists) {
					err = nil
				}
			case i < 3 && k == 1:
				// Where its columns are others, or the journal refuses it, nothing is put.
				_, _ = s.Put(t.Context(), names[i], []message.Message{{Row: make([]message.Value, 1)}})
				if r.IntN(10) == 0 {
					_, err = s.Purge(t.Context(), names[i])
				}
			default:
				d, _, _ := s.Definition(t.Context(), names[i])
				if d.Labels = nil; r.IntN(2) == 0 {
					d.Labels = labelsFor(r.IntN(100))
				}
				if i < 3 {
					texts := []string{"c0 varchar(20)"}
					for c := range r.IntN(4) {
						texts = append(texts, fmt.Sprintf("c%d varchar(%d) default '%s'", c+1, 100+r.IntN(5),
							strings.Repeat("v", r.IntN(100))))
					}
					d.Columns = columnsOf(t, texts...)
				}
				err = s.AlterQueue(t.Context(), names[i], d)
			}
			if err != nil && !errors.Is(err, journal.ErrRefused) {
				t.Fatal(err)
			} else if err != nil {
				refused++
			}
		}
		m.Refuse(false)
		if refused < steps/10 {
			t.Errorf("the journal refused %d", refused)
		}
		want := portrayed(s) // it prunes layouts
		counted, reserved := countedMemory(s)
		if reserved != 0 {
			t.Errorf("%d bytes stay reserved", reserved)
		}
		for _, checkpoint := range []bool{false, true} {
			if checkpoint {
				checkpointNow(t, s)
			}
			again := open(t, m.after(true))
			if got := portrayed(again); got != want {
				t.Errorf("the state is\n%sand after a restart (checkpoint: %v)\n%s", want, checkpoint, got)
			}
			if after, _ := countedMemory(again); after != counted {
				t.Errorf("%d bytes are counted, after a restart (checkpoint: %v) %d", counted, checkpoint, after)
			}
		}
		for _, n := range must(s.Queues(t.Context())) {
			if err := s.DeleteQueue(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		if counted, reserved := countedMemory(s); counted != 0 || reserved != 0 {
			t.Errorf("when all are deleted %d bytes are counted, %d reserved", counted, reserved)
		}
	})
}

// TestWhatComesCountsInTheLimits makes more of what there may be so many of than there is room for, all at once: those
// that are on their way count.
func TestWhatComesCountsInTheLimits(t *testing.T) {
	named := func(n string, i int) Name { return Name{DefaultNamespace, fmt.Sprint(n, i)} }
	const more = 5
	for what, x := range map[string]struct {
		before int
		make   func(t *testing.T, s *Store, i int) error
	}{
		"queues": {7, func(t *testing.T, s *Store, i int) error {
			_, err := s.CreateQueue(t.Context(), named("q", i), Definition{})
			return err
		}},
		"queues and topics": {7, func(t *testing.T, s *Store, i int) error {
			var err error
			if i%2 == 0 {
				_, err = s.CreateQueue(t.Context(), named("q", i), Definition{})
			} else {
				_, err = s.CreateTopic(t.Context(), named("q", i), nil)
			}
			return err
		}},
		"subscriptions": {2, func(t *testing.T, s *Store, i int) error {
			_, err := s.CreateQueue(t.Context(), named("q", i), Definition{Topic: "t"})
			return err
		}},
		"snapshots": {MaxSnapshots - 1, func(t *testing.T, s *Store, i int) error {
			_, err := s.TakeSnapshot(t.Context(), named("s", i), news, SnapshotOptions{})
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := newMemory()
				s := open(t, m, func(o *Options) { o.Limits.Queues, o.Limits.Subscriptions = 10, 3 })
				if _, err := s.CreateQueue(t.Context(), news, Definition{}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.CreateTopic(t.Context(), Name{DefaultNamespace, "t"}, nil); err != nil {
					t.Fatal(err)
				}
				for i := range x.before {
					if err := x.make(t, s, i); err != nil {
						t.Fatal(err)
					}
				}
				made := make(chan error, more)
				try := func(want int, when string) {
					t.Helper()
					m.hold(true)
					for i := range more {
						go func() { made <- x.make(t, s, x.before+i) }()
						synctest.Wait()
					}
					m.hold(false)
					done := 0
					for range more {
						if err := <-made; err == nil {
							done++
						} else if !errors.Is(err, ErrDefinition) && !errors.Is(err, journal.ErrRefused) {
							t.Error(err)
						}
					}
					if done != want {
						t.Errorf("%s: %d were made where there is room for %d", when, done, want)
					}
				}
				m.Refuse(true)
				try(0, "when the journal refuses them")
				m.Refuse(false)
				try(1, "all at once")
			})
		})
	}
}
