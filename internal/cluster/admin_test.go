package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/link"
)

// asked is a node whose answers to commands are made by answer, and a way to ask it.
func asked(t *testing.T, answer func(context.Context, net.Conn)) func(Request) (Status, error) {
	t.Helper()
	o := link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: "a", Secret: strings.Repeat("secret", 6)}
	l, err := link.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	l.Handle(AdminKind, func(ctx context.Context, _ string, c net.Conn) { answer(ctx, c) })
	o.Node = ""
	d, err := link.NewDialer(o)
	if err != nil {
		t.Fatal(err)
	}
	return func(r Request) (Status, error) {
		return Ask(t.Context(), d, link.Peer{Node: "a", Address: l.Addr().String()}, r)
	}
}

// A process that is stopped or whose disk hangs accepts connections and says nothing.
func TestANodeThatHangsHoldsUpNoCommand(t *testing.T) {
	before := askTime
	askTime = 100 * time.Millisecond
	t.Cleanup(func() { askTime = before })
	ask := asked(t, func(ctx context.Context, _ net.Conn) { <-ctx.Done() })
	_, err := ask(Request{Ask: AskStatus})
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "node a does not answer") {
		t.Errorf("%v", err)
	}
}

func TestSinceWhenTheShardIsOwnedIsToldByTheClockOfWhoAsks(t *testing.T) {
	theirs := time.Now().Add(-time.Hour) // their clock is slow
	ask := asked(t, func(_ context.Context, c net.Conn) {
		_ = json.NewEncoder(c).Encode(reply{Now: theirs,
			Status: Status{Owner: Owner{Node: "a", Since: theirs.Add(-time.Minute)}}})
	})
	begun := time.Now()
	s, err := ask(Request{Ask: AskStatus})
	if err != nil {
		t.Fatal(err)
	}
	if since := s.Owner.Since.Add(time.Minute); since.Before(begun) || since.After(time.Now()) {
		t.Errorf("the shard is owned since %v", s.Owner.Since)
	}
}
