package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"

	door "github.com/hikyaku/hikyaku/internal/api/pubsub"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestTwoLinesTellWhatCompanyCosts(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (addr string){
		"Google's server for tests": google, "hikyaku": hikyaku,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PUBSUB_EMULATOR_HOST", start(t))
			for range 2 { // the second time the topic is there
				measured(t)
			}
			stored(t, []string{"test 0", "test 0", "test 0", "test 0", "test 1", "test 1", "test 1", "test 1", "test 2",
				"test 2", "test 2", "test 2", "warm up", "warm up"})
		})
	}
}

func google(t *testing.T) string {
	t.Helper()
	server := pstest.NewServer()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.Addr
}

// hikyaku is the door over a durable store, with every default.
func hikyaku(t *testing.T) string {
	t.Helper()
	server, err := harness.OpenDoorServer(t.Context(), t.TempDir(), harness.Setting{},
		func(s *queue.Store) (harness.Door, error) {
			return door.New(door.Config{Listen: "127.0.0.1:0"}, door.Options{Store: s})
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server.Addr
}

// measured runs the program and looks at its two lines.
func measured(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), &out, "p", "latency", 3); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(
		`^level=INFO msg="Default settings result" average_ms=([0-9.]+)\nlevel=INFO msg="Optimized settings result" average_ms=([0-9.]+)\n$`)
	found := lines.FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("it printed\n%s", out.String())
	}
	waits, err := strconv.ParseFloat(found[1], 64)
	if err != nil || waits < 10 { // the default settings wait that long, whatever the machine
		t.Errorf("with the default settings a message takes %s ms", found[1])
	}
}

// stored demands that just these messages wait in the subscription that the program has made.
func stored(t *testing.T, want []string) {
	t.Helper()
	client, err := pubsub.NewClient(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	const subscription = "projects/p/subscriptions/latency"
	var got []string
	for len(got) < len(want) {
		some, err := client.SubscriptionAdminClient.Pull(t.Context(),
			&pubsubpb.PullRequest{Subscription: subscription, MaxMessages: 100})
		if err != nil {
			t.Fatal(fmt.Errorf("after %q: %w", got, err))
		}
		var ids []string
		for _, m := range some.ReceivedMessages {
			got, ids = append(got, string(m.Message.Data)), append(ids, m.AckId)
		}
		if err := client.SubscriptionAdminClient.Acknowledge(t.Context(),
			&pubsubpb.AcknowledgeRequest{Subscription: subscription, AckIds: ids}); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q wait, want %q", got, want)
	}
}

func TestItSaysWhatIsWrong(t *testing.T) {
	t.Setenv("PUBSUB_EMULATOR_HOST", google(t))
	if err := run(t.Context(), &bytes.Buffer{}, "", "latency", 1); err == nil {
		t.Error("no project will do")
	}
}
