package rows

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// waitsFor checks why a sink says that rows wait; "": it does not say so.
func waitsFor(t *testing.T, s *Sink, want string) {
	t.Helper()
	why := s.Waits()
	if (why == nil) != (want == "") || why != nil && !strings.Contains(why.Error(), want) {
		t.Fatalf("rows wait for %v, wanted %q", why, want)
	}
}

func TestItIsKnownWhyRowsWaitUntilTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		d.open = func() error { return failure(Away, true) }
		s := begin(t, d, Config{})
		waitsFor(t, s, "table t: the database is away: scripted: away")
		for range 20 {
			all(t, sent(t, s, messages(0, 3)), component.Retry)
		}
		waitsFor(t, s, "away")
		time.Sleep(time.Minute)
		d.open = nil
		all(t, sent(t, s, messages(0, 3)), component.Delivered)
		waitsFor(t, s, "")
		d.write = func(context.Context) error { return failure(Refused, false) }
		all(t, sent(t, s, messages(3, 4)), component.Retry)
		waitsFor(t, s, "table t: scripted: refused")
	})
}

func TestASilentDatabaseIsNamedAndALostConflictIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		s := begin(t, d, Config{})
		d.write = func(context.Context) error { return failure(Conflict, false) }
		all(t, sent(t, s, messages(0, 1)), component.Retry)
		waitsFor(t, s, "")
		d.write = func(ctx context.Context) error {
			d.mu.Unlock()
			<-ctx.Done()
			d.mu.Lock()
			return ctx.Err()
		}
		all(t, sent(t, s, messages(0, 1)), component.Retry)
		waitsFor(t, s, "no answer in time (request.timeout_secs)")
	})
}

func TestTheEndOfARunIsNoReasonToWait(t *testing.T) {
	d := newScripted()
	s := begin(t, d, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	d.write = func(context.Context) error { cancel(); return ctx.Err() }
	outcomes, err := s.Send(ctx, messages(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	all(t, outcomes, component.Retry)
	waitsFor(t, s, "")
}

func TestADefinitionThatIsNotUnderstoodStopsTheStart(t *testing.T) {
	d := newScripted()
	d.table = nil
	d.create = failure(Drift, false)
	s, err := New(d, Config{Table: []string{"t"}, Create: "k bigint, v bigtext"}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "make the table t: scripted: drift") {
		t.Error(err)
	}
	for _, o := range sent(t, s, messages(0, 1)) {
		if o.Verdict != component.Retry || !o.Held || o.After != pause || strings.Contains(o.Reason.Error(), "away") {
			t.Errorf("%+v", o)
		}
	}
}
