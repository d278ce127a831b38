package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// logged is what a house has logged so far.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// TestTheLogSaysWhenPutsAreRefusedAndWhenTheyAreTakenAgain fills a store and makes room again.
func TestTheLogSaysWhenPutsAreRefusedAndWhenTheyAreTakenAgain(t *testing.T) {
	t.Parallel()
	f, err := config.Parse("x.yaml", []byte("data_dir: "+filepath.ToSlash(t.TempDir())+
		"\nlimits: { messages: 1 }\nqueues: { work: {} }\n"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	h, err := openHouse(t.Context(), f, log, false)
	if err != nil {
		t.Fatal(err)
	}
	_, stop := h.whileSound(t.Context())
	work := queue.Name{Namespace: "default", Name: "work"}
	if _, err := h.store.Put(t.Context(), work, make([]message.Message, 1)); err != nil {
		t.Fatal(err)
	}
	until := func(text string) {
		t.Helper()
		for begun := time.Now(); log.count(text) == 0; time.Sleep(50 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("the log does not say %q", text)
			}
		}
	}
	until("puts are refused")
	claims, err := h.store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: work}}})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	_, err = h.store.Settle(t.Context(), []queue.Settlement{{Token: claims[0].Token, Kind: queue.Done}})
	if err != nil {
		t.Fatal(err)
	}
	until("puts are taken again")
	if n := log.count("puts are refused"); n != 1 {
		t.Errorf("it was said %d times", n)
	}
	stop()
	if err := h.end(nil); err != nil {
		t.Fatal(err)
	}
}
