package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestAStoreThatIsFullOfMemoryStartsWithMoreInItsConfiguration: else what fills it could not be taken out.
func TestAStoreThatIsFullOfMemoryStartsWithMoreInItsConfiguration(t *testing.T) {
	head := "data_dir: " + filepath.ToSlash(t.TempDir()) + "\nlimits: { memory: 200000 }\n"
	house := func(definitions string, adopt bool) *house {
		t.Helper()
		f, err := config.Parse("x.yaml", []byte(head+definitions), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		h, err := openHouse(t.Context(), f, t.Output(), adopt)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	named := func(name string) queue.Name { return queue.Name{Namespace: "default", Name: name} }
	h := house("queues: { work: {} }\n", false)
	m := message.Message{}
	m.Attributes.Set("a", message.String(strings.Repeat("a", 1000)))
	var err error
	for n := 0; err == nil && n < 1000; n++ {
		_, err = h.store.Put(t.Context(), named("work"), []message.Message{m})
	}
	if !errors.Is(err, queue.ErrQueueFull) {
		t.Fatal(err)
	}
	if err := h.end(nil); err != nil {
		t.Fatal(err)
	}
	label := "labels: { why: " + strings.Repeat("x", 60) + " }"
	h = house("topics: { news: {} }\nqueues: { work: { "+label+" }, readers: { topic: news }, more: { "+label+" } }\n",
		true)
	claims, err := h.store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: named("work")}}})
	if err != nil || len(claims) != 1 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
	_, err = h.store.CreateQueue(t.Context(), named("another"), queue.Definition{Labels: map[string]string{
		"why": strings.Repeat("x", 2000)}})
	if !errors.Is(err, queue.ErrQueueFull) {
		t.Errorf("a queue of a client: %v", err)
	}
	if err := h.end(nil); err != nil {
		t.Fatal(err)
	}
}
