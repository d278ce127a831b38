package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
)

// withCheckpoints is the disk of a process that was killed after it had saved two checkpoints and gone on, and what it
// knew. Messages were settled, and where segments are small the first of them was reclaimed.
func withCheckpoints(t *testing.T, reclaimed bool) (*faultfs.Disk, string) {
	t.Helper()
	disk := faultfs.New()
	segment := int64(1 << 20)
	if reclaimed {
		segment = 16 << 10
	}
	s, j, err := openSegments(disk, segment)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
		t.Fatal(err)
	}
	some := func() {
		t.Helper()
		for i := range 30 {
			mustPut(t, s, news, message.Message{Body: fmt.Appendf(nil, "%d %01000d", i, i), Dedup: fmt.Sprint("id ", i),
				Key: fmt.Sprint(i % 7)})
			c := mustClaim(t, s, ClaimRequest{From: from(news)})
			if i%3 > 0 && len(c) == 1 {
				settle(t, s, Settlement{Token: c[0].Token})
			}
		}
		mustPut(t, s, news, make([]message.Message, pageSize)...) // these stay
	}
	for range 2 {
		some()
		if err := s.checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	some()
	synctest.Wait() // segments are reclaimed in the background
	if gone := disk.Bytes("log/0000000000000000.log") == nil; gone != reclaimed {
		t.Fatalf("the first segment is gone: %v", gone)
	}
	want := portrayed(s)
	after := disk.AfterKill()
	_ = errors.Join(s.Close(), j.Close()) // it is dead
	return after.Clone(), want
}

func checkpointsOn(disk *faultfs.Disk) (names []string) {
	for _, n := range disk.Names() {
		if strings.Contains(n, "checkpoint") {
			names = append(names, n)
		}
	}
	return names // the older one first
}

// TestRuleACheckpointThatIsMissingOrDamagedCostsTimeAndNoMessage takes checkpoints away and flips bytes in them. A
// start finds the same with what is left of them, also with none as long as the log still has its beginning; else it
// stops.
func TestRuleACheckpointThatIsMissingOrDamagedCostsTimeAndNoMessage(t *testing.T) {
	bubble(t, checkpointsAreMissingOrDamaged)
}

func checkpointsAreMissingOrDamaged(t *testing.T) {
	missing := func(disk *faultfs.Disk, name string) error { return disk.Remove(name) }
	flipped := func(at func(size int) int) func(*faultfs.Disk, string) error {
		return func(disk *faultfs.Disk, name string) error {
			b := disk.Bytes(name)
			i := at(len(b))
			return disk.Set(name, int64(i), b[i]^0x20)
		}
	}
	harms := map[string]func(*faultfs.Disk, string) error{
		"missing":                missing,
		"damaged at the front":   flipped(func(int) int { return 5 }),
		"damaged in the middle":  flipped(func(n int) int { return n / 2 }),
		"damaged in its trailer": flipped(func(n int) int { return n - 1 }),
	}
	for _, reclaimed := range []bool{false, true} {
		disk, want := withCheckpoints(t, reclaimed)
		names := checkpointsOn(disk)
		if len(names) != 2 {
			t.Fatalf("there are %d checkpoints", len(names))
		}
		if got := found(t, disk.Clone()); got != want {
			t.Fatalf("a start finds\n%s\nit was\n%s", got, want)
		}
		for harm, do := range harms {
			for which, harmed := range map[string][]string{"newest": names[1:], "older": names[:1], "both": names} {
				d := disk.Clone()
				for _, n := range harmed {
					if err := do(d, n); err != nil {
						t.Fatal(err)
					}
				}
				if which == "both" && reclaimed {
					_, _, err := openStill(d)
					var damage *journal.DamageError
					if !errors.As(err, &damage) {
						t.Errorf("both %s, and the beginning of the log is gone: a start answers %v", harm, err)
					}
					continue
				}
				if got := found(t, d); got != want {
					t.Errorf("%s %s (reclaimed: %v): a start finds\n%s\nit was\n%s", which, harm, reclaimed, got, want)
				}
			}
		}
	}
}

// TestRuleDefinitionsAndNotesSurviveARestart makes, changes and deletes them, and starts from the log and from a
// checkpoint.
func TestRuleDefinitionsAndNotesSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		name := func(n string) Name { return Name{DefaultNamespace, n} }
		var errs []error
		try := func(err error) { errs = append(errs, err) }
		create := func(n string, d Definition) {
			_, err := s.CreateQueue(ctx, name(n), d)
			try(err)
		}
		for _, n := range []string{"kept-topic", "gone-topic"} {
			_, err := s.CreateTopic(ctx, name(n), map[string]string{"label": n})
			try(err)
		}
		create("altered", Definition{MaxAttempts: 3})
		try(s.AlterQueue(ctx, name("altered"), Definition{MaxAttempts: 5, DeadLetter: "else"}))
		create("deleted", Definition{})
		create("subscribed", Definition{Topic: "kept-topic", Filter: "n = 1"})
		create("left-alone", Definition{Topic: "gone-topic"})
		mustPut(t, s, name("left-alone"), text("x")...)
		try(s.DeleteQueue(ctx, name("deleted")))
		create("deleted", Definition{Labels: map[string]string{"again": "yes"}})
		try(s.DeleteTopic(ctx, name("gone-topic")))
		for _, v := range []string{"dead token 1", "dead token 2"} {
			try(s.SetNotes(ctx, Note{"push", v, []byte(v)}, Note{"push", "forgotten", []byte(v)}))
		}
		try(s.SetNotes(ctx, Note{Room: "push", Key: "forgotten"}))
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		tell := func(s *Store) string {
			var b strings.Builder
			for _, n := range must(s.Queues(t.Context())) {
				st, err := s.Stats(t.Context(), n)
				fmt.Fprintf(&b, "%s %+v %d %v\n", n, st.Definition, st.Messages(), err)
			}
			for _, n := range must(s.Topics(t.Context())) {
				st, err := s.TopicStats(t.Context(), n)
				fmt.Fprintf(&b, "%s %v %v %v\n", n, st.Labels, st.Subscriptions, err)
			}
			fmt.Fprintf(&b, "%v", must(s.Notes(t.Context(), "push")))
			return b.String()
		}
		want := tell(s)
		names, topics := must(s.Queues(t.Context())), must(s.Topics(t.Context()))
		if len(names) != 4 || len(topics) != 1 || len(must(s.Notes(t.Context(), "push"))) != 2 ||
			slices.Contains(must(s.Topics(t.Context())), name("gone-topic")) {
			t.Fatalf("there are %s", want)
		}
		if got := tell(open(t, m.after(true))); got != want {
			t.Errorf("before:\n%s\nafter a restart:\n%s", want, got)
		}
		if err := s.checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		if got := tell(open(t, m.after(true))); got != want {
			t.Errorf("before:\n%s\nafter a restart from a checkpoint:\n%s", want, got)
		}
	})
}

// TestRuleAPurgeIsOneRecord purges a thousand messages, some of them claimed, and looks at what was written.
func TestRuleAPurgeIsOneRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, make([]message.Message, 1000)...)
		held := mustClaim(t, s, ClaimRequest{From: from(news), Max: 10})
		before := len(m.Groups())
		if n, err := s.Purge(ctx, news); err != nil || n != 1000 {
			t.Fatal(n, err)
		}
		if wrote := m.Groups()[before:]; len(wrote) != 1 || len(wrote[0].Records) != 1 ||
			wrote[0].Records[0].Size() > 64 {
			t.Errorf("it wrote %d groups", len(wrote))
		}
		mustPut(t, s, news, text("put behind it")...)
		s = open(t, m.after(true))
		if errs, err := s.Settle(ctx, []Settlement{{Token: held[0].Token}}); err != nil ||
			!errors.Is(errs[0], ErrStale) {
			t.Errorf("a claim of a purged message: %v %v", errs, err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2}); bodies(c) != "put behind it" {
			t.Errorf("after a purge and a restart: %q", bodies(c))
		}
	})
}

// TestRuleOnAFullDiskMessagesCanStillBePurged fills a disk until the smallest put is refused, claims, settles and
// purges in the reserve, and puts again when there is room.
func TestRuleOnAFullDiskMessagesCanStillBePurged(t *testing.T) {
	disk := faultfs.New()
	s, j, err := openStill(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	defer s.Close()
	ctx := context.Background()
	if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
		t.Fatal(err)
	}
	disk.Limit(300 << 10)
	acknowledged := 0
	for _, size := range []int{5000, 500, 0} { // to the last byte that messages may have
		var refused error
		for refused == nil && acknowledged < 1000 {
			if _, refused = s.Put(ctx, news, []message.Message{{Body: make([]byte, size)}}); refused == nil {
				acknowledged++
			}
		}
		if !errors.Is(refused, ErrNoRoom) {
			t.Fatalf("after %d puts: %v", acknowledged, refused)
		}
	}
	for range 70 { // more than fits into a segment
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		if len(c) != 1 {
			t.Fatalf("a claim on a full disk gets %d messages", len(c))
		}
		settle(t, s, Settlement{Token: c[0].Token, Kind: Back})
	}
	if n, err := s.Purge(ctx, news); err != nil || n != acknowledged {
		t.Errorf("a purge on a full disk: %d of %d, %v", n, acknowledged, err)
	}
	for range 2 {
		if err := s.checkpoint(ctx); err != nil {
			t.Fatalf("a checkpoint on a full disk: %v", err)
		}
	}
	for range 1_000_000 { // segments are reclaimed beside this
		if _, err = s.Put(ctx, news, []message.Message{{Body: make([]byte, 5000)}}); !errors.Is(err, ErrNoRoom) {
			break
		}
	}
	if err != nil {
		t.Errorf("a put after the purge: %v", err)
	}
}
