package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestRuleADamagedBodyIsNeverDeliveredAltered flips a byte in the bodies of some messages of a live queue, at every
// place in turn, and of one that two subscriptions share. All others are delivered as they were, and those few are set
// aside with a reason.
func TestRuleADamagedBodyIsNeverDeliveredAltered(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	j, err := file.Open(ctx, file.Options{Dir: "log", FS: disk, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10,
		IdleSeal: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, Options{Journal: j, Clock: still, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	name := func(n string) Name { return Name{DefaultNamespace, n} }
	subs := []Name{name("x"), name("y")}
	if _, err := s.CreateTopic(ctx, name("t"), nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range subs {
		if _, err := s.CreateQueue(ctx, n, Definition{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	body := func(n int) []byte { return bytes.Repeat(fmt.Appendf(nil, "[%04d]", n), 50) } // 300 bytes
	const messages = 300
	for n := range messages {
		to := news
		if n == 150 {
			to = name("t")
		}
		if _, err := s.Publish(ctx, to, []message.Message{{Body: body(n)}}); err != nil {
			t.Fatal(err)
		}
	}
	damaged := map[string]bool{}
	log := disk.Bytes("log/0000000000000000.log")
	for n := range messages {
		if n%3 != 0 {
			continue
		}
		at := bytes.Index(log, body(n))
		if at < 0 {
			t.Fatalf("the body of message %d is not in the log", n)
		}
		at += n // another place in each
		if err := disk.Set("log/0000000000000000.log", int64(at), log[at]^1<<(n%8)); err != nil {
			t.Fatal(err)
		}
		damaged[string(body(n))] = true
	}
	ps, err := s.Peek(ctx, news, PeekRequest{Max: messages})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, p := range ps {
		if p.Damage != "" {
			told++
			if len(p.Message.Body) != 0 {
				t.Errorf("a damaged body is shown: %q", p.Message.Body)
			}
		} else if damaged[string(p.Message.Body)] || len(p.Message.Body) != 300 {
			t.Errorf("shown as sound: %q", p.Message.Body)
		}
	}
	if told != messages/3-1 {
		t.Errorf("%d messages are shown as damaged, %d are", told, messages/3-1)
	}
	delivered := map[string]int{}
	for {
		c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 7})
		if len(c) == 0 {
			break
		}
		for _, c := range c {
			delivered[string(c.Message.Body)]++
		}
	}
	for n := range messages {
		want := 1
		if n%3 == 0 {
			want = 0
		}
		if got := delivered[string(body(n))]; got != want {
			t.Errorf("message %d was delivered %d times, not %d", n, got, want)
		}
		delete(delivered, string(body(n)))
	}
	for b := range delivered {
		t.Errorf("delivered altered: %q", b)
	}
	for _, n := range subs {
		if c := mustClaim(t, s, ClaimRequest{From: from(n)}); len(c) != 0 {
			t.Errorf("%s delivers %q", n.Short(), bodies(c))
		}
	}
	for dead, want := range map[Name]int{name("news_dead"): messages/3 - 1, name("x_dead"): 1, name("y_dead"): 1} {
		ps, err := s.Peek(ctx, dead, PeekRequest{Max: messages})
		if err != nil || len(ps) != want {
			t.Errorf("%d messages of %s were set aside, not %d: %v", len(ps), dead.Short(), want, err)
		}
		for _, p := range ps {
			if r := p.Message.Death.Reason; !strings.Contains(r, "set aside") ||
				!strings.Contains(r, "damage in log/0000000000000000.log, offset") {
				t.Errorf("the reason is %q", r)
			}
		}
	}
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
}
