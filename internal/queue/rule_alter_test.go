package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func columnsOf(t *testing.T, definitions ...string) message.Columns {
	t.Helper()
	cs, err := message.ParseColumns(definitions)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// withRows makes news a queue with columns and puts rows, given as JSON.
func withRows(t *testing.T, s *Store, d Definition, rows ...string) {
	t.Helper()
	if _, err := s.CreateQueue(t.Context(), news, d); err != nil {
		t.Fatal(err)
	}
	if len(rows) > 0 {
		mustPut(t, s, news, text(rows...)...)
	}
}

func mustAlter(t *testing.T, s *Store, columns message.Columns, from ...int) {
	t.Helper()
	d, version, err := s.Definition(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	d.Columns = columns
	if from == nil {
		err = s.AlterQueue(t.Context(), news, d)
	} else {
		err = s.AlterColumns(t.Context(), news, d, from, version)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rows are the rows of what is in news, as JSON.
func rows(t *testing.T, s *Store) string {
	t.Helper()
	ps, err := s.Peek(t.Context(), news, PeekRequest{Max: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var b []string
	for _, p := range ps {
		if p.Damage != "" {
			t.Errorf("message %d: %s", p.Sequence, p.Damage)
		}
		own, err := s.Look(t.Context(), news, p.Sequence)
		if err != nil || !slices.Equal(own.Message.Row, p.Message.Row) ||
			!slices.Equal(own.Columns.Names(), p.Columns.Names()) {
			t.Errorf("message %d looked at alone is %v, %v", p.Sequence, own.Message.Row, err)
		}
		b = append(b, string(p.Columns.AppendJSON(nil, p.Message.Row)))
	}
	return strings.Join(b, " ")
}

// matching are the sequences of what a condition finds, by claims that are put back, and by looking.
func matching(t *testing.T, s *Store, text string) string {
	t.Helper()
	cs := mustClaim(t, s, ClaimRequest{From: where(t, news, text), Max: 1000, Lease: time.Hour})
	var back []Settlement
	var claimed, seen []uint64
	for _, c := range cs {
		claimed = append(claimed, c.Sequence)
		back = append(back, Settlement{Token: c.Token, Kind: Back, Uncounted: true})
	}
	settle(t, s, back...)
	ps, err := s.Peek(t.Context(), news, PeekRequest{Where: where(t, news, text)[0].Where, Ready: true, Max: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		seen = append(seen, p.Sequence)
	}
	if !slices.Equal(claimed, seen) {
		t.Errorf("%s: claims find %v, a look finds %v", text, claimed, seen)
	}
	return fmt.Sprint(claimed)
}

// everywhere looks at a store, at one that folds all of its journal, and at one that begins with a checkpoint.
func everywhere(t *testing.T, m *memory, s *Store, look func(t *testing.T, s *Store)) {
	t.Helper()
	look(t, s)
	look(t, open(t, m.after(true)))
	checkpointNow(t, s)
	look(t, open(t, m.after(true)))
}

// TestRuleRowsAreShownByTheColumnsThatAreNow alters the columns of a queue with rows in it in all ways there are, one
// after the other.
func TestRuleRowsAreShownByTheColumnsThatAreNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		withRows(t, s, Definition{Columns: columnsOf(t, "id int", "name varchar(200)", "at datetime(6)")},
			`{"id":1,"name":"one","at":"2026-01-02 03:04:05.678"}`, `{"id":2,"name":null,"at":null}`,
			`{"id":3,"name":"`+strings.Repeat("x", 190)+`"}`)
		long := strings.Repeat("x", 190)
		held := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})

		mustAlter(t, s, columnsOf(t, "id int", "name varchar(200)", "at datetime(6)", "n int not null",
			"kind varchar(9) default 'new'", "note text"))
		everywhere(t, m, s, func(t *testing.T, s *Store) {
			want := `{"id":1,"name":"one","at":"2026-01-02T03:04:05.678Z","n":0,"kind":"new","note":null} ` +
				`{"id":2,"name":null,"at":null,"n":0,"kind":"new","note":null} {"id":3,"name":"` + long +
				`","at":null,"n":0,"kind":"new","note":null}`
			if got := rows(t, s); got != want {
				t.Errorf("with columns added there are\n%s\nwant\n%s", got, want)
			}
			if got := matching(t, s, "kind = 'new' and n = 0"); got != "[2 3]" {
				t.Errorf("by the columns that were added %s are found", got)
			}
		})

		// moved, renamed, made a text, a date and a number; one is gone, one was put before and one after
		mustPut(t, s, news, text(`{"id":4,"name":"four","at":"1999-12-31 23:59:59","n":4,"kind":"44","note":"4"}`)...)
		mustAlter(t, s, columnsOf(t, "label text", "day date", "id varchar(5)", "n decimal(5,1)"), 1, 2, 0, 3)
		mustPut(t, s, news, text(`{"label":"five","day":"2000-01-01","id":"V","n":5.5}`)...)
		everywhere(t, m, s, func(t *testing.T, s *Store) {
			want := `{"label":"one","day":"2026-01-02","id":"1","n":0.0} {"label":null,"day":null,"id":"2","n":0.0} {"label":"` + long + `","day":null,"id":"3","n":0.0} ` +
				`{"label":"four","day":"1999-12-31","id":"4","n":4.0} {"label":"five","day":"2000-01-01","id":"V","n":5.5}`
			if got := rows(t, s); got != want {
				t.Errorf("with columns changed there are\n%s\nwant\n%s", got, want)
			}
			for text, want := range map[string]string{"label like 'x%'": "[3]", "day < '2000-01-01'": "[4]",
				"id = '2' or id = 'V'": "[2 5]", "n > 3": "[4 5]", "label is null": "[2]"} {
				if got := matching(t, s, text); got != want {
					t.Errorf("%s finds %s, want %s", text, got, want)
				}
			}
		})

		// what an alteration has cut off does not come back with the next
		mustAlter(t, s, columnsOf(t, "day datetime(6)", "id varchar(5)", "label text"))
		p, err := s.Look(t.Context(), news, 1)
		if got := string(p.Columns.AppendJSON(nil, p.Message.Row)); err != nil || p.State != Claimed ||
			got != `{"day":"2026-01-02T00:00:00Z","id":"1","label":"one"}` {
			t.Errorf("what is claimed all the while is %s (%s, %v)", got, p.State, err)
		}
		if got := string(held[0].Columns.AppendJSON(nil, held[0].Message.Row)); !strings.Contains(got, `"id":1,`) {
			t.Errorf("what was handed out before is %s", got)
		}
		settle(t, s, Settlement{Token: held[0].Token, Kind: Back})
		if c := mustClaim(t, s, ClaimRequest{From: from(news)}); c[0].Attempt != 2 ||
			c[0].Message.Row[1] != message.String("1") ||
			string(c[0].Body()) != `{"day":"2026-01-02T00:00:00Z","id":"1","label":"one"}` {
			t.Errorf("put back and claimed again it is %+v", c[0])
		}
	})
}

// TestRuleAnAlterationThatAMessageDoesNotFitChangesNothing asks for columns that one row does not fit, wherever its
// value is and whatever its state.
func TestRuleAnAlterationThatAMessageDoesNotFitChangesNothing(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, x := range []struct {
		name, row string
		columns   []string
		from      []int
		column    string
	}{
		{"too long", `{"a":"123456","b":1}`, []string{"a varchar(5)", "b int"}, nil, "a"},
		{"too long, in the body", `{"a":"` + long + `","b":1}`, []string{"a varchar(4999)", "b int"}, nil, "a"},
		{"no number", `{"a":"12x","b":1}`, []string{"a int", "b int"}, nil, "a"},
		{"no number, in the body", `{"a":"` + long + `","b":1}`, []string{"a int", "b int"}, nil, "a"},
		{"too large", `{"a":"1","b":70000}`, []string{"a text", "b smallint"}, nil, "b"},
		{"negative", `{"a":"1","b":-1}`, []string{"a text", "b int unsigned"}, nil, "b"},
		{"null", `{"a":null,"b":1}`, []string{"a text not null", "b int"}, nil, "a"},
		{"null and renamed", `{"a":"1","b":null}`, []string{"c int not null"}, []int{1}, "c"},
		{"no date to give", `{"a":"1","b":1}`, []string{"a text", "b int", "c datetime not null"}, nil, "c"},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := newMemory()
				s := open(t, m)
				withRows(t, s, Definition{Columns: columnsOf(t, "a text", "b int"), History: time.Hour},
					`{"a":"1","b":1}`, x.row, `{"a":"`+strings.Repeat("9", 200)+`","b":1}`)
				if strings.Contains(x.name, "negative") {
					settleOldest(t, s, news, 2) // of the past, then
				} else {
					mustClaim(t, s, ClaimRequest{From: from(news), Max: 2, Lease: time.Hour})
				}
				before := portrayed(s)
				d, version, _ := s.Definition(t.Context(), news)
				d.Columns = columnsOf(t, x.columns...)
				alter := func() error { return s.AlterQueue(t.Context(), news, d) }
				if x.from != nil {
					alter = func() error { return s.AlterColumns(t.Context(), news, d, x.from, version) }
				}
				err := alter()
				var column *message.ColumnError
				if !errors.Is(err, ErrMismatch) || !errors.As(err, &column) || column.Column != x.column ||
					!strings.Contains(err.Error(), "message 2") && x.name != "no date to give" {
					t.Errorf("it answers %v", err)
				}
				if _, after, _ := s.Definition(t.Context(), news); portrayed(s) != before || after != version {
					t.Errorf("it changed something: %s", portrayed(s))
				}
				mustPut(t, s, news, text(`{"a":"y","b":2}`)...) // nobody waits for ever
				if len(s.defining) != 0 || s.draining != 0 {
					t.Error("it goes on for ever")
				}
				if _, err := s.Purge(t.Context(), news); err != nil {
					t.Fatal(err)
				}
				if err := alter(); err != nil {
					t.Errorf("without the row: %v", err)
				}
			})
		})
	}
}

// TestRuleWhatIsPutWhileAnAlterationLooksIsLookedAtToo puts a row that does not fit while the others are looked at, and
// one that is on its way to the journal at the end.
func TestRuleWhatIsPutWhileAnAlterationLooksIsLookedAtToo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		withRows(t, s, Definition{Columns: columnsOf(t, "a text")}, `{"a":"`+strings.Repeat("9", 200)+`"}`)
		d := Definition{Columns: columnsOf(t, "a decimal(65,0)")}
		alter := func() chan error {
			answer := make(chan error, 1)
			go func() { answer <- s.AlterQueue(ctx, news, d) }()
			return answer
		}
		if err := <-alter(); !errors.Is(err, ErrMismatch) {
			t.Fatalf("200 digits as a number of 65: %v", err)
		}
		d.Columns = columnsOf(t, "a varchar(250)")
		m.BeforeRead(func() { mustPut(t, s, news, text(`{"a":"`+strings.Repeat("y", 251)+`"}`)...) })
		if err := <-alter(); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "message 2") {
			t.Errorf("with a row that came meanwhile: %v", err)
		}
		mustRemove(t, s, news, 2)
		m.hold(true)
		put := make(chan error, 2)
		go func() {
			_, err := s.Put(ctx, news, text(`{"a":"`+strings.Repeat("z", 252)+`"}`))
			put <- err
		}()
		synctest.Wait()
		answer := alter()
		synctest.Wait()
		go func() { // this one waits for the alteration
			_, err := s.Put(ctx, news, text(`{"a":"late"}`))
			put <- err
		}()
		synctest.Wait()
		m.hold(false)
		if err := <-answer; !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "message 3") {
			t.Errorf("with a row on its way: %v", err)
		}
		if err := errors.Join(<-put, <-put); err != nil {
			t.Error(err)
		}
		mustRemove(t, s, news, 3)
		if err := <-alter(); err != nil {
			t.Errorf("when it is gone: %v", err)
		}
		if got := matching(t, s, "a = 'late'"); got != "[4]" {
			t.Errorf("found %s", got)
		}
	})
}

// TestRuleWaitersGoOnByTheColumnsThatAreNow alters columns while readers wait: who names one that is gone is told, who
// matches only now is served, the others wait on, in their order.
func TestRuleWaitersGoOnByTheColumnsThatAreNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		withRows(t, s, Definition{Columns: columnsOf(t, "a decimal(5,1)", "b int")}, `{"a":1.4,"b":1}`)
		other := Name{DefaultNamespace, "other"}
		if _, err := s.CreateQueue(ctx, other, Definition{}); err != nil {
			t.Fatal(err)
		}
		type answer struct {
			who  string
			got  string
			err  error
			when time.Duration
		}
		began := time.Now()
		answers := make(chan answer, 9)
		wait := func(who string, from []From) {
			go func() {
				cs, err := s.Claim(ctx, ClaimRequest{From: from, Wait: time.Minute, Lease: time.Hour})
				got := ""
				for _, c := range cs {
					got += fmt.Sprint(c.Queue.Name, c.Sequence)
				}
				answers <- answer{who, got, err, time.Since(began)}
			}()
			synctest.Wait()
		}
		next := func(who, got string, is error) {
			t.Helper()
			synctest.Wait()
			select {
			case a := <-answers:
				if a.who != who || a.got != got || !errors.Is(a.err, is) || is == nil && a.err != nil {
					t.Errorf("%q is answered %q, %v; want %q %q %v", a.who, a.got, a.err, who, got, is)
				}
			default:
				t.Errorf("%q is not answered", who)
			}
		}
		wait("of both, first", where(t, news, "b = 3 and a >= 0"))
		wait("of both, second", where(t, news, "b = 3"))
		wait("of the one that goes", append(from(other), where(t, news, "a = 5 and c = 1 or b = 9")[0]))
		next("of the one that goes", "", ErrCondition) // there is no c
		wait("of the one that goes", append(from(other), where(t, news, "b = 9 or b = 8")[0]))
		wait("of what it becomes", where(t, news, "a = 1 and b is not null or a = 1"))
		mustAlter(t, s, columnsOf(t, "a int", "b int"))
		next("of what it becomes", "news1", nil) // 1.4 is 1 by now
		mustPut(t, s, news, text(`{"a":3,"b":3}`)...)
		next("of both, first", "news2", nil)
		wait("the one before", where(t, news, "a >= 0 and a < 9"))
		wait("everything", from(news))
		mustAlter(t, s, columnsOf(t, "a int", "d int"), 0, fixed)
		synctest.Wait()
		told := map[string]answer{}
		for range 2 {
			a := <-answers
			told[a.who] = a
		}
		for _, who := range []string{"of both, second", "of the one that goes"} {
			var bad *condition.Error
			if a := told[who]; !errors.Is(a.err, ErrCondition) || !errors.As(a.err, &bad) || a.when > time.Second {
				t.Errorf("%q is told %+v", who, a)
			}
		}
		mustPut(t, s, news, text(`{"a":4,"d":4}`)...)
		next("the one before", "news3", nil) // it looked again, and kept its place
		mustPut(t, s, news, text(`{"a":4,"d":4}`)...)
		next("everything", "news4", nil)
		wait("renamed", where(t, news, "d = 5"))
		renamed := Name{"elsewhere", "news"}
		if err := s.RenameQueue(ctx, news, renamed); err != nil {
			t.Fatal(err)
		}
		if err := s.AlterQueue(ctx, renamed, Definition{Columns: columnsOf(t, "d int", "a int")}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mustPut(t, s, renamed, text(`{"a":5,"d":5}`)...)
		next("renamed", "news5", nil)
		if err := s.RenameQueue(ctx, renamed, news); err != nil {
			t.Fatal(err)
		}
		wait("in vain", where(t, news, "d = 77"))
		mustAlter(t, s, columnsOf(t, "a int", "d bigint"))
		if a := <-answers; a.who != "in vain" || a.err != nil || a.got != "" || a.when < time.Minute {
			t.Errorf("who waits in vain: %+v", a)
		}
		if s.waiting != 0 || s.state.queueNames[news].waiting.Len() != 0 ||
			s.state.queueNames[other].waiting.Len() != 0 {
			t.Error("somebody still waits")
		}
	})
}

// TestRuleLayoutsGoWithTheMessagesThatHaveThem alters again and again: what is remembered stays bounded by what is
// there.
func TestRuleLayoutsGoWithTheMessagesThatHaveThem(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		withRows(t, s, Definition{Columns: columnsOf(t, "a int")}, `{"a":1}`)
		q := s.state.queueNames[news]
		for range 3 * maxLayouts { // there and back again is nowhere
			mustAlter(t, s, columnsOf(t, "a int", "b int"))
			mustAlter(t, s, columnsOf(t, "a int"))
		}
		if len(q.layouts) != 0 {
			t.Errorf("%d layouts of a queue whose columns are what they were", len(q.layouts))
		}
		for i := range 3 * maxLayouts { // all from before look alike
			mustAlter(t, s, columnsOf(t, "a int", fmt.Sprintf("b%d int default %d", i, i)))
			mustPut(t, s, news, text(`{"a":2}`)...)
		}
		if len(q.layouts) > 2 {
			t.Errorf("%d layouts that look alike", len(q.layouts))
		}
		if _, err := s.Purge(ctx, news); err != nil {
			t.Fatal(err)
		}
		mustAlter(t, s, columnsOf(t, "a varchar(255)"))
		first := mustPut(t, s, news, text(`{"a":"2"}`)...)[0].Sequence
		for i := range maxLayouts { // each is of another kind, and has a message
			mustAlter(t, s, columnsOf(t, fmt.Sprintf("a varchar(%d)", 254-i)))
			mustPut(t, s, news, text(`{"a":"2"}`)...)
		}
		if len(q.layouts) != maxLayouts {
			t.Fatalf("%d layouts, want %d", len(q.layouts), maxLayouts)
		}
		d := Definition{Columns: columnsOf(t, "a int")}
		if err := s.AlterQueue(ctx, news, d); !errors.Is(err, ErrDefinition) ||
			!strings.Contains(err.Error(), fmt.Sprint("message ", first, ",")) {
			t.Errorf("one more: %v", err)
		}
		mustRemove(t, s, news, first, first+50)
		mustAlter(t, s, d.Columns)
		if n := len(q.layouts); n > maxLayouts-1 {
			t.Errorf("%d layouts when two have no message any more", n)
		}
		checkpointNow(t, s)
		again := open(t, m.after(true)).state.queueNames[news]
		if len(again.layouts) != len(q.layouts) {
			t.Errorf("after a restart there are %d, not %d", len(again.layouts), len(q.layouts))
		}
		if _, err := s.Purge(ctx, news); err != nil || len(q.layouts) != 0 {
			t.Errorf("%d layouts of an empty queue, %v", len(q.layouts), err)
		}
	})
}

// TestRuleASequenceThatWasLostIsOfNoLayoutBeforeIt lets a put fail just before an alteration: after a restart its
// number must not be given to a row that would be taken for one from before.
func TestRuleASequenceThatWasLostIsOfNoLayoutBeforeIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		withRows(t, s, Definition{Columns: columnsOf(t, "a int", "b int")}, `{"a":1,"b":2}`)
		refusing := func(on bool) {
			m.Refuse(on)
		}
		refusing(true)
		if _, err := s.Put(ctx, news, text(`{"a":1,"b":2}`, `{"a":1,"b":2}`)); err == nil {
			t.Fatal("the put was not refused")
		}
		refusing(false)
		mustAlter(t, s, columnsOf(t, "b int", "a int"))
		for _, s := range []*Store{open(t, m.after(true)), s} {
			mustPut(t, s, news, text(`{"a":1,"b":2}`)...)
			if got := rows(t, s); got != `{"b":2,"a":1} {"b":2,"a":1}` {
				t.Errorf("there are %s", got)
			}
		}
	})
}

// TestALargeValueThatStaysAsItIsIsNotRead forbids null in a column with large values, which takes no look at bodies,
// and widens one, which takes none at messages.
func TestALargeValueThatStaysAsItIsIsNotRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		withRows(t, s, Definition{Columns: columnsOf(t, "a varchar(2000)", "b int")},
			`{"a":"`+strings.Repeat("x", 1000)+`","b":1}`)
		reads := m.Reads()
		mustAlter(t, s, columnsOf(t, "b bigint", "a text not null"))
		mustAlter(t, s, columnsOf(t, "b bigint", "c varchar(9)", "a longtext not null"))
		if m.Reads() != reads {
			t.Errorf("%d reads", m.Reads()-reads)
		}
		if got := rows(t, s); got != `{"b":1,"c":null,"a":"`+strings.Repeat("x", 1000)+`"}` {
			t.Errorf("there are %s", got)
		}
	})
}
