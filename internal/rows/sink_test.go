package rows

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestRefusedRowsAloneAreRejectedForFewWrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newScripted()
		d.named = rapid.Bool().Draw(rt, "named")
		n := rapid.IntRange(1, 200).Draw(rt, "rows")
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, min(n, 20)).Draw(rt, "bad") {
			d.bad[int64(k)] = true
		}
		s, err := New(d, Config{Table: []string{"t"}}, component.Env{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		outcomes, err := s.Send(t.Context(), messages(0, n))
		if err != nil {
			rt.Fatal(err)
		}
		for k, o := range outcomes {
			_, there := d.rows[int64(k)]
			if bad := d.bad[int64(k)]; bad != (o.Verdict == component.Rejected) || bad == there || !bad &&
				o.Verdict != component.Delivered {
				rt.Errorf("row %d (bad: %v) is %v, and there: %v", k, bad, o.Verdict, there)
			}
			if o.Verdict == component.Rejected &&
				!strings.Contains(o.Reason.Error(), fmt.Sprintf("table t: row %d: scripted", k)) {
				rt.Errorf("row %d is rejected because %v", k, o.Reason)
			}
		}
		bad, levels := len(d.bad), bits.Len(uint(n))+1
		if most := 1 + 3*bad*levels; d.writes > most {
			rt.Errorf("%d writes for %d refused rows of %d: more than %d", d.writes, bad, n, most)
		}
		if most := n * (levels + 3); d.sent > most {
			rt.Errorf("%d rows sent for %d, with %d refused", d.sent, n, bad)
		}
	})
}

func TestUpsertWritesTheLastOfAKeyThatIsTaken(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newScripted()
		keys := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 30).Draw(rt, "keys")
		refused := rapid.SliceOfN(rapid.Bool(), len(keys), len(keys)).Draw(rt, "refused")
		var batch []*message.Message
		want := map[int64]string{}
		for i, k := range keys {
			v := fmt.Sprint(i)
			if refused[i] {
				v = "\\u0000" // the column does not take it
			} else {
				want[int64(k)] = v
			}
			batch = append(batch, &message.Message{Body: fmt.Appendf(nil, `{"k":%d,"v":"%s"}`, k, v)})
		}
		d.table.Columns[1].NoNUL = true
		s, err := New(d, Config{Table: []string{"t"}, Mode: "upsert"}, component.Env{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		outcomes, _ := s.Send(t.Context(), batch)
		for i, o := range outcomes {
			if refused[i] != (o.Verdict == component.Rejected) {
				rt.Errorf("message %d is %v", i, o.Verdict)
			}
		}
		if fmt.Sprint(d.rows) != fmt.Sprint(want) {
			rt.Errorf("the table has %v, not %v", d.rows, want)
		}
		if d.writes > 1 {
			rt.Errorf("%d writes", d.writes)
		}
	})
}

func TestWhereTheLastOfAKeyIsRefusedTheOneBeforeHasItsTurn(t *testing.T) {
	d := newScripted()
	refuse := true
	d.write = func(context.Context) error {
		if d.writes++; refuse {
			refuse = false
			return fault{Fault{Class: BadRow, Row: 0}}
		}
		d.write = nil
		return nil
	}
	s := begin(t, d, Config{Mode: "upsert"})
	batch := append(messages(1, 2), messages(1, 2)...)
	outcomes := sent(t, s, batch)
	if outcomes[0].Verdict != component.Delivered || outcomes[1].Verdict != component.Rejected {
		t.Errorf("%v and %v", outcomes[0].Verdict, outcomes[1].Verdict)
	}
}

func TestAConflictIsTriedAgainAtOnceAndThenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		for range 3 {
			d.fails = append(d.fails, failure(Conflict, false))
		}
		s := begin(t, d, Config{})
		all(t, sent(t, s, messages(0, 3)), component.Delivered)
		if n := s.Counts()["conflicts"]; n != 3 {
			t.Errorf("%d conflicts", n)
		}
		d.write = func(context.Context) error { return failure(Conflict, false) }
		outcomes := sent(t, s, messages(3, 5))
		all(t, outcomes, component.Retry)
		if !outcomes[0].Slow || !outcomes[0].Held {
			t.Errorf("%+v", outcomes[0])
		}
		d.write = nil
		all(t, sent(t, s, messages(3, 5)), component.Delivered)
	})
}

func TestAnUnknownEndIsTriedAgainWhereItDoesNoHarm(t *testing.T) {
	for mode, verdict := range map[string]component.Verdict{"insert": component.Retry, "once": component.Delivered,
		"upsert": component.Delivered} {
		d := newScripted()
		d.fails = []error{failure(Unknown, false)}
		s := begin(t, d, Config{Mode: mode})
		outcomes := sent(t, s, messages(0, 4))
		all(t, outcomes, verdict)
		want := uint64(0)
		if mode == "insert" {
			want = 4
		}
		if n := s.Counts()["maybe_doubled"]; n != want {
			t.Errorf("%s: %d are counted as perhaps doubled", mode, n)
		}
	}
}

func TestASessionThatEndedWhileItWaitedCostsNoTry(t *testing.T) {
	d := newScripted()
	s := begin(t, d, Config{})
	all(t, sent(t, s, messages(0, 1)), component.Delivered)
	d.fails = []error{failure(Away, true)}
	all(t, sent(t, s, messages(1, 3)), component.Delivered)
	if d.opens != 2 || s.Counts()["reconnects"] != 1 {
		t.Errorf("%d openings, %d are counted", d.opens, s.Counts()["reconnects"])
	}
}

func TestARowThatNoSessionSurvivesIsTriedAlone(t *testing.T) {
	d := newScripted()
	s := begin(t, d, Config{})
	d.bad[5] = true
	s.driver, s.schema.driver, s.pool.driver = deadly{d}, deadly{d}, deadly{d}
	outcomes := sent(t, s, messages(0, 16))
	for k, o := range outcomes {
		want := component.Delivered
		if k == 5 {
			want = component.Retry
		}
		if o.Verdict != want || o.Held {
			t.Errorf("row %d: %v (held: %v), because %v", k, o.Verdict, o.Held, o.Reason)
		}
	}
}

// deadly is a database whose sessions end where others refuse a row.
type deadly struct{ *scripted }

func (d deadly) Judge(err error) Fault {
	f := d.scripted.Judge(err)
	if f.Class == BadRow {
		f = Fault{Class: Away, Row: -1, Broken: true}
	}
	return f
}

func TestWhoMayNotWriteWaitsAndLosesNothing(t *testing.T) {
	d := newScripted()
	s := begin(t, d, Config{})
	d.write = func(context.Context) error { return failure(Refused, false) }
	for _, o := range sent(t, s, messages(0, 3)) {
		if o.Verdict != component.Retry || !o.Held || o.After < time.Second {
			t.Errorf("%+v", o)
		}
	}
	d.write = nil
	all(t, sent(t, s, messages(0, 3)), component.Delivered)
}

func TestADatabaseThatIsAwayIsAskedSeldomAndByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		away := true
		d.open = func() error {
			if away {
				return failure(Away, true)
			}
			return nil
		}
		s := begin(t, d, Config{PoolSize: 16})
		var work sync.WaitGroup
		for n := range 16 {
			work.Go(func() {
				for {
					outcomes, err := s.Send(t.Context(), messages(n, n+1))
					if err != nil || outcomes[0].Verdict == component.Delivered {
						return
					}
					if !outcomes[0].Held {
						t.Errorf("it is counted as a try: %v", outcomes[0].Reason)
					}
					time.Sleep(outcomes[0].After) // of the bubble
				}
			})
		}
		time.Sleep(10 * time.Minute)
		d.mu.Lock()
		opens := d.opens
		away = false
		d.mu.Unlock()
		if opens < 60 || opens > 400 { // every 2.5 to 7.5 s
			t.Errorf("%d openings in ten minutes", opens)
		}
		work.Wait()
		if len(d.rows) != 16 {
			t.Errorf("%d rows", len(d.rows))
		}
	})
}

func TestWhoIsRefusedAtTheStartIsTold(t *testing.T) {
	d := newScripted()
	d.open = func() error { return failure(Refused, true) }
	s, err := New(d, Config{Table: []string{"t"}}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "refused by the database") {
		t.Error(err)
	}
}

func TestASendEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		s := begin(t, d, Config{})
		d.write = func(ctx context.Context) error {
			d.mu.Unlock()
			<-ctx.Done()
			d.mu.Lock()
			return ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		outcomes, _ := s.Send(ctx, messages(0, 3))
		all(t, outcomes, component.Retry)
		if !errors.Is(outcomes[0].Reason, context.DeadlineExceeded) || outcomes[0].Held {
			t.Errorf("%+v", outcomes[0])
		}
		if d.live != 0 {
			t.Error("the session is kept, though nobody knows what it does")
		}
		d.write = nil
		all(t, sent(t, s, messages(0, 3)), component.Delivered)
	})
}

func TestSendsWaitForASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		s := begin(t, d, Config{PoolSize: 1})
		held, err := s.pool.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		outcomes, _ := s.Send(ctx, messages(0, 1))
		all(t, outcomes, component.Retry)
		if !strings.Contains(outcomes[0].Reason.Error(), "pool_size") {
			t.Error(outcomes[0].Reason)
		}
		s.pool.give(held, false)
	})
}

func TestATableThatChangedIsReadAgain(t *testing.T) {
	d := newScripted()
	s := begin(t, d, Config{})
	all(t, sent(t, s, messages(0, 1)), component.Delivered)
	d.fails = []error{failure(Drift, false)}
	all(t, sent(t, s, messages(1, 2)), component.Delivered)
	if d.columns[0] == d.columns[2] {
		t.Error("the columns are the same slice as before: a prepared statement would be used again")
	}
	d.fails = []error{failure(Drift, false), failure(Drift, false), failure(Drift, false), failure(Drift, false)}
	outcomes := sent(t, s, messages(2, 3))
	all(t, outcomes, component.Retry)
	if !strings.Contains(outcomes[0].Reason.Error(), "keeps changing") {
		t.Error(outcomes[0].Reason)
	}
	all(t, sent(t, s, messages(2, 3)), component.Delivered)
}

func TestTheSameColumnsComeAsTheSameSlice(t *testing.T) {
	d := newScripted()
	d.table.Columns[1].Default = true
	s := begin(t, d, Config{})
	only := func(k int) *message.Message { return &message.Message{Body: fmt.Appendf(nil, `{"k":%d}`, k)} }
	all(t, sent(t, s, append(messages(0, 2), only(5))), component.Delivered)
	all(t, sent(t, s, append([]*message.Message{only(6)}, messages(7, 9)...)), component.Delivered)
	if len(d.columns) != 4 || d.columns[0] != d.columns[3] || d.columns[1] != d.columns[2] ||
		d.columns[0] == d.columns[1] {
		t.Errorf("%p", d.columns)
	}
}

func TestManyShapesOfRowsAreForgotten(t *testing.T) {
	d := newScripted()
	for i := range 12 {
		d.table.Columns = append(d.table.Columns, Column{Name: fmt.Sprint("c", i), Kind: Int, Bits: 64, Nullable: true,
			Default: true})
	}
	s := begin(t, d, Config{})
	for i := range 3000 {
		body := fmt.Sprintf(`{"k":%d`, i)
		for c := range 12 {
			if i&(1<<c) != 0 {
				body += fmt.Sprintf(`,"c%d":1`, c)
			}
		}
		all(t, sent(t, s, []*message.Message{{Body: []byte(body + "}")}}), component.Delivered)
	}
	if n := len(s.schema.now.Load().layouts); n > mostLayouts {
		t.Errorf("%d layouts", n)
	}
	if len(d.rows) != 3000 {
		t.Errorf("%d rows", len(d.rows))
	}
}

func TestWhatWasReadFromAFileHasOneIdentity(t *testing.T) {
	place := message.Origin{Source: "file", Offset: 12}
	a, b := &message.Message{ID: message.NewID(), Origin: place}, &message.Message{ID: message.NewID(), Origin: place}
	if identity(a) != identity(b) || identity(a).IsZero() {
		t.Error("the same line has two identities")
	}
	b.Origin.Part = 1
	if identity(a) == identity(b) {
		t.Error("two messages made of one line have the same identity")
	}
	if m := (&message.Message{ID: message.NewID()}); identity(m) != m.ID {
		t.Error("a message of a queue has another identity than its id")
	}
}
