package queue

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestACheckpointOfQueuesAndTopicsIsOfTheMomentItBegan does to queues, topics, snapshots and notes all that can be
// done, behind the beginning of a checkpoint and before any of it is written.
func TestACheckpointOfQueuesAndTopicsIsOfTheMomentItBegan(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		no := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		name := func(n string) Name { return Name{DefaultNamespace, n} }
		must := func(_ bool, err error) { t.Helper(); no(err) }
		for _, topic := range []string{"t", "gone.topic"} {
			must(s.CreateTopic(ctx, name(topic), nil))
		}
		for _, q := range []string{"put", "published", "claimed", "settled", "purged", "deleted", "renamed", "altered",
			"sought", "freed", "duplicate", "idle", "forgetful"} {
			d := Definition{History: time.Hour, DeadLetter: "renamed"}
			if q == "renamed" {
				d.DeadLetter = ""
			}
			if q == "published" {
				d.Topic = "t"
			}
			if q == "freed" {
				d.Topic = "gone.topic"
			}
			if q == "forgetful" {
				d.DedupWindow = time.Second
			}
			must(s.CreateQueue(ctx, name(q), d))
			mustPut(t, s, name(q), message.Message{Body: []byte("a"), Dedup: "a",
				Origin: message.Origin{Source: "s", Offset: 1, Mark: 1}},
				message.Message{Body: []byte("b"), Dedup: "b"})
			c := mustClaim(t, s, ClaimRequest{From: from(name(q))})
			settle(t, s, Settlement{Token: c[0].Token, Kind: Done})
			_, err := s.TakeSnapshot(ctx, name("of."+q), name(q), SnapshotOptions{})
			no(err)
		}
		held := mustClaim(t, s, ClaimRequest{From: from(name("settled"))})
		no(s.SetNotes(ctx, Note{"room", "stays", []byte("1")}, Note{"room", "goes", []byte("2")}))

		s.mu.Lock()
		want := portrait(s.state)
		sn := s.state.beginSnapshot()
		s.mu.Unlock()

		for i := range 300 { // another page
			mustPut(t, s, name("put"),
				message.Message{Dedup: fmt.Sprint(i), Origin: message.Origin{Source: "s", Offset: uint64(i + 2)}})
		}
		_, err := s.Publish(ctx, name("t"), text("c"))
		no(err)
		mustClaim(t, s, ClaimRequest{From: from(name("claimed"))})
		settle(t, s, Settlement{Token: held[0].Token, Kind: Done})
		_, err = s.Purge(ctx, name("purged"))
		no(err)
		no(s.DeleteQueue(ctx, name("deleted")))
		no(s.RenameQueue(ctx, name("renamed"), name("other")))
		no(s.AlterQueue(ctx, name("altered"), Definition{MaxAttempts: 3}))
		_, err = s.Seek(ctx, name("sought"), SeekTo{Snapshot: name("of.sought")})
		no(err)
		no(s.DeleteTopic(ctx, name("gone.topic")))
		if r := mustPut(t, s, name("duplicate"), message.Message{Dedup: "a"}); !r[0].Duplicate {
			t.Fatal("no duplicate")
		}
		no(s.DeleteSnapshot(ctx, name("of.idle")))
		must(s.CreateQueue(ctx, name("new"), Definition{}))
		must(s.CreateTopic(ctx, name("new.topic"), nil))
		no(s.SetNotes(ctx, Note{"room", "comes", []byte("3")}, Note{"room", "goes", nil},
			Note{"room", "stays", []byte("4")}))
		time.Sleep(10 * time.Second) // ids are forgotten

		var b bytes.Buffer
		if _, err := sn.writeTo(&b, s.locked); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		if n := len(s.state.saves.pages) + len(s.state.saves.queues) + len(s.state.saves.topics); n != 0 {
			t.Errorf("%d copies were kept and not written", n)
		}
		sn.end()
		s.mu.Unlock()
		fresh := newState()
		fresh.folding = true
		if err := fresh.restore(bufio.NewReader(&b), map[journal.Address]*sharedBody{}); err != nil {
			t.Fatal(err)
		}
		if got := portrait(fresh); got != want {
			t.Fatalf("the checkpoint restores\n%s\nit began at\n%s", got, want)
		}
	})
}
