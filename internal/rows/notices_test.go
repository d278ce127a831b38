package rows

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// said looks for texts in the notices, one in each.
func said(t *testing.T, s *Sink, texts ...string) {
	t.Helper()
	all := s.Notices()
	if len(all) != len(texts) || !slices.EqualFunc(all, texts, strings.Contains) {
		t.Fatalf("it is said: %q; wanted: %q", all, texts)
	}
}

func TestThatRowsWaitIsSaidOnceAndWhenTheyAreWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		d.open = func() error { return failure(Away, true) }
		s := begin(t, d, Config{})
		said(t, s, "rows wait, and it is tried again: table t: the database is away: scripted: away")
		for range 20 {
			all(t, sent(t, s, messages(0, 3)), component.Retry)
		}
		said(t, s, "rows wait")
		time.Sleep(time.Minute)
		d.open = nil
		all(t, sent(t, s, messages(0, 3)), component.Delivered)
		all(t, sent(t, s, messages(3, 6)), component.Delivered)
		said(t, s, "rows wait", "rows are written again, after 1m0s")
	})
}

func TestALongWaitIsSaidEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		s := begin(t, d, Config{})
		d.write = func(context.Context) error { return failure(Refused, false) }
		for range 60 * 60 {
			all(t, sent(t, s, messages(0, 1)), component.Retry)
			time.Sleep(time.Second)
		}
		n := s.Notices()
		if len(n) < 8 || len(n) > 14 || !strings.HasPrefix(n[len(n)-1], "rows have waited for 5") || !strings.HasSuffix(n[1], "for 10s: table t: scripted: refused") {
			t.Errorf("in an hour it is said: %q", n)
		}
		// What follows after calm is said at once.
		d.write = nil
		all(t, sent(t, s, messages(0, 1)), component.Delivered)
		time.Sleep(time.Hour)
		d.write = func(context.Context) error { return failure(Refused, false) }
		all(t, sent(t, s, messages(1, 2)), component.Retry)
		if more := s.Notices()[len(n):]; len(more) != 2 || !strings.HasPrefix(more[0], "rows are written again, after 1h0m0s") || !strings.HasPrefix(more[1], "rows wait") {
			t.Errorf("then it is said: %q", more)
		}
	})
}

func TestASilentDatabaseIsNamedAndALostConflictIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newScripted()
		s := begin(t, d, Config{})
		d.write = func(context.Context) error { return failure(Conflict, false) }
		all(t, sent(t, s, messages(0, 1)), component.Retry)
		said(t, s)
		d.write = func(ctx context.Context) error {
			d.mu.Unlock()
			<-ctx.Done()
			d.mu.Lock()
			return ctx.Err()
		}
		all(t, sent(t, s, messages(0, 1)), component.Retry)
		said(t, s, "no answer in time (request.timeout_secs)")
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
	said(t, s)
}

func TestNoticesAreBoundedAndGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n notices
		seen, told := 0, 0
		for range 3 * mostNotices {
			n.waiting(errors.New("away"))
			time.Sleep(longestSilence + time.Second)
			list := n.all()
			if len(list) > mostNotices {
				t.Fatalf("%d notices", len(list))
			}
			told += len(list[min(seen, len(list)):])
			list = n.all()
			seen = len(list)
		}
		if told != 3*mostNotices {
			t.Errorf("%d of %d were told", told, 3*mostNotices)
		}
	})
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
