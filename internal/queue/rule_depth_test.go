package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestRuleAStuckQueueOutlastsAMillionOtherMessages leaves a few messages alone while a million others (fewer with the
// race detector, which makes this slow) come and go in another queue. They stay whole, also over a restart, and they do
// not keep the log.
func TestRuleAStuckQueueOutlastsAMillionOtherMessages(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	start := func() (*Store, *file.Journal) {
		j, err := file.Open(ctx, file.Options{Dir: dir, Durability: journal.OS, SegmentBytes: 2 << 20,
			CleanBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(ctx, Options{Journal: j, OnDemand: true, CheckpointBytes: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		return s, j
	}
	s, j := start()
	stuck, busy := Name{DefaultNamespace, "stuck"}, Name{DefaultNamespace, "busy"}
	body := func(n int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%03d,", n), 100) }
	const rounds, group = 100, manyOthers / 100
	others := make([]message.Message, group)
	for n := range rounds {
		mustPut(t, s, stuck, message.Message{Body: body(n)})
		for i := range others {
			others[i] = message.Message{ID: message.ID{byte(n), byte(i >> 8), byte(i)}}
		}
		mustPut(t, s, busy, others...)
		if c := mustClaim(t, s, ClaimRequest{From: from(busy), Max: 100}); len(c) != 100 {
			t.Fatalf("claimed %d", len(c))
		}
		if _, err := s.Purge(ctx, busy); err != nil {
			t.Fatal(err)
		}
		if n%10 == 9 {
			if err := s.checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func() {
		t.Helper()
		if st, err := s.Stats(t.Context(), busy); err != nil || st.TotalPut != rounds*group || st.Messages() != 0 {
			t.Fatalf("%d messages were put, %d are left, %v", st.TotalPut, st.Messages(), err)
		}
		ps, err := s.Peek(ctx, stuck, PeekRequest{Max: 2 * rounds})
		if err != nil || len(ps) != rounds {
			t.Fatalf("%d messages are stuck, %v", len(ps), err)
		}
		for n, p := range ps {
			if !bytes.Equal(p.Message.Body, body(n)) || p.Damage != "" || p.Sequence != uint64(n+1) {
				t.Errorf("message %d is %.20q %s", n, p.Message.Body, p.Damage)
			}
		}
	}
	check()
	appended := j.Stats().Bytes
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	s, j = start()
	check()
	// What lies behind two checkpoints goes, but for what is stuck; the reserve and the newest segments stay.
	most := appended/3 + 4*(2<<20)
	for deadline := time.Now().Add(time.Minute); j.Stats().TotalBytes > most; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("the log takes %d bytes, of %d that were written", j.Stats().TotalBytes, appended)
		}
		if err := s.checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	check()
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
}

// memoryOf is by how much the heap grows when build makes something, which is kept.
func memoryOf(build func() any) (kept any, size int64) {
	weigh := func() int64 {
		var m runtime.MemStats
		for range 3 { // pools let go in the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := weigh()
	kept = build()
	return kept, weigh() - before
}

// TestRuleAWaitingMessageCostsLittleMemory weighs plain messages without a body, and two indexes over them.
func TestRuleAWaitingMessageCostsLittleMemory(t *testing.T) {
	const n = 100_000
	var head []byte
	kept, plain := memoryOf(func() any {
		s := newState()
		q := s.newQueueState(1, news, Definition{}.normal(news))
		s.queues[1], s.queueNames[news] = q, q
		for i := range uint64(n) {
			m := message.Message{}
			m.ID[0], m.ID[15] = byte(i), byte(i>>8)
			m.Time = timeOf(int64(i))
			m.Attributes.Set("n", message.Int(int64(i)))
			m.Attributes.Set("lang", message.String("ja"))
			head = appendHead(head[:0], &m)
			e := q.all.Add(i+1, &arrival{row: row{at: int64(i)}, head: head})
			s.show(q, e)
		}
		return s
	})
	s := kept.(*state)
	_, indexes := memoryOf(func() any {
		q := s.queues[1]
		for _, text := range []string{"n >= 5", "lang = 'ja'"} {
			s.ready(q, parse(t, text))
		}
		return q
	})
	t.Logf("%d bytes a message, of which %d are its head; %d for an index over a number and one over a word", plain/n,
		len(head), indexes/n)
	if most := int64(len(head)) + 50; plain/n > most {
		t.Errorf("a waiting message costs %d bytes, its head of %d included; at most %d", plain/n, len(head), most)
	}
	if indexes/n > 90 {
		t.Errorf("two indexes cost %d bytes a message", indexes/n)
	}
	if all := (plain + indexes) / n; all > 200 {
		t.Errorf("together it is %d bytes a message, at most 200", all)
	}
	runtime.KeepAlive(s)
}

// TestRuleDefaultLimitsRefuseBeforeMemoryDoes pretends that a store without limits of its own holds ten million
// messages.
func TestRuleDefaultLimitsRefuseBeforeMemoryDoes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("x")...)
		pretend := func(messages, bytes int64) {
			s.mu.Lock()
			s.state.messages += messages
			s.state.bytes += bytes
			s.mu.Unlock()
		}
		for _, full := range [][2]int64{{10_000_000 - 1, 0}, {0, 64 << 30}} {
			pretend(full[0], full[1])
			if _, err := s.Put(context.Background(), news, text("one more")); !errors.Is(err, ErrQueueFull) {
				t.Errorf("with %d messages and %d bytes more a put answers %v", full[0], full[1], err)
			}
			pretend(-full[0], -full[1])
		}
		mustPut(t, s, news, text("y")...)
	})
}
