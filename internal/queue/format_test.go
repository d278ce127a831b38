package queue_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// makeFormat makes a folder as this version writes it, for testdata: go test ./internal/queue -run
// TestFoldersOfEveryFormat -make-format testdata/format/NAME.tar.gz
var makeFormat = flag.String("make-format", "", "write a folder of this version's format, packed, to this `FILE`")

const formatLetters = 120

var (
	lettersName = queue.Name{Namespace: "default", Name: "letters"}
	topicName   = queue.Name{Namespace: "default", Name: "all"}
	readerNames = []queue.Name{{Namespace: "default", Name: "everything"}, {Namespace: "default", Name: "some"}}
)

func letter(n int) string { return fmt.Sprintf("letter %d %s", n, strings.Repeat("x", n*13%700)) }

// wantedLetters are the bodies that a folder holds, by queue.
func wantedLetters() map[string][]string {
	want := map[string][]string{}
	for n := range formatLetters {
		if n%5 == 0 {
			want["letters"] = append(want["letters"], letter(n))
		}
	}
	for n := range 10 {
		want["everything"] = append(want["everything"], letter(1000+n))
		if n >= 5 {
			want["some"] = append(want["some"], letter(1000+n))
		}
	}
	want["letters"] = append(want["letters"], letter(2000), letter(2001))
	return want
}

func openFormat(t *testing.T, dir string) (*queue.Store, *file.Journal) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: dir, SegmentBytes: 16 << 10, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true, CheckpointBytes: 8 << 10})
	if err != nil {
		t.Fatal(errors.Join(err, j.Close()))
	}
	return s, j
}

// playFormat fills a folder: segments, cold ones, checkpoints, topics, notes, deduplication ids; stops, starts, and
// leaves what a kill leaves.
func playFormat(t *testing.T, dir string) {
	t.Helper()
	ctx := t.Context()
	s, j := openFormat(t, dir)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(s *queue.Store, name queue.Name, numbers ...int) {
		t.Helper()
		for _, n := range numbers {
			m := message.Message{Body: []byte(letter(n)), Dedup: fmt.Sprint("letter-", n)}
			_, err := s.Put(ctx, name, []message.Message{m})
			must(err)
		}
	}
	_, err := s.CreateTopic(ctx, topicName, map[string]string{"made": "for the test"})
	must(err)
	_, err = s.CreateQueue(ctx, readerNames[0], queue.Definition{Topic: "all"})
	must(err)
	for n := range formatLetters {
		put(s, lettersName, n)
	}
	for n := range 10 {
		if n == 5 {
			_, err = s.CreateQueue(ctx, readerNames[1], queue.Definition{Topic: "all", MaxAttempts: 7})
			must(err)
		}
		_, err := s.Publish(ctx, topicName, []message.Message{{Body: []byte(letter(1000 + n))}})
		must(err)
	}
	must(s.SetNotes(ctx, queue.Note{Room: "tests", Key: "format", Value: []byte("kept")}))
	claims, err := s.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: lettersName}}, Max: formatLetters,
		Lease: time.Hour})
	must(err)
	var done []queue.Settlement
	for n, c := range claims {
		if n%5 != 0 {
			done = append(done, queue.Settlement{Token: c.Token, Kind: queue.Done})
		}
	}
	_, err = s.Settle(ctx, done)
	must(err)
	must(errors.Join(s.Close(), j.Close()))
	for deadline := time.Now().Add(time.Minute); ; {
		s, j = openFormat(t, dir)
		must(errors.Join(s.Close(), j.Close())) // saves a checkpoint
		if colds, _ := filepath.Glob(filepath.Join(dir, "*.cold")); len(colds) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was cleaned within a minute")
		}
	}
	s, j = openFormat(t, dir)
	put(s, lettersName, 2000, 2001)
	for { // until the journal is done with what it does in the background
		must(queue.PackFolder(dir, *makeFormat))
		copied := t.TempDir()
		queue.UnpackFolder(t, *makeFormat, copied)
		r, err := file.Check(ctx, copied, nil)
		must(err)
		if len(r.Damages) == 0 {
			break
		}
	}
	must(errors.Join(s.Close(), j.Close()))
}

// TestFoldersOfEveryFormatOpen opens a folder of every format of the journal that can be read, and finds every message
// in it; twice, since the first start goes on in today's format.
func TestFoldersOfEveryFormatOpen(t *testing.T) {
	if *makeFormat != "" {
		playFormat(t, t.TempDir())
	}
	archives, err := filepath.Glob("testdata/format/[0-9]*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), func(t *testing.T) {
			dir := t.TempDir()
			queue.UnpackFolder(t, archive, dir)
			if r, err := file.Check(t.Context(), dir, nil); err != nil || len(r.Damages) > 0 || r.Cold == 0 ||
				r.Checkpoints != 2 {
				t.Fatalf("check: %+v, %v", r, err)
			}
			for range 2 {
				s, j := openFormat(t, dir)
				compareLetters(t.Context(), t, s)
				if err := errors.Join(s.Close(), j.Close()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func compareLetters(ctx context.Context, t *testing.T, s *queue.Store) {
	t.Helper()
	want := wantedLetters()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		ps, err := s.Peek(ctx, queue.Name{Namespace: "default", Name: name}, queue.PeekRequest{Max: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range ps {
			if p.Damage != "" {
				t.Errorf("%s: %s", name, p.Damage)
			}
			got = append(got, string(p.Message.Body))
		}
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s has %d messages, want %d: %.200q", name, len(got), len(want[name]), got)
		}
	}
	if v, ok, _ := s.Note(t.Context(), "tests", "format"); !ok || string(v) != "kept" {
		t.Errorf("the note is %q, %t", v, ok)
	}
}
