package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// sharded opens the stores of a folder with so many shards.
func sharded(t *testing.T, data, shards string) (stores, error) {
	t.Helper()
	text := "data_dir: " + data + "\nshards: " + shards + "\njournal: { segment_bytes: 1MiB }\n"
	f, err := config.Parse("h.yaml", []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	return openStores(t.Context(), f, slog.New(slog.DiscardHandler), nil, queue.Options{})
}

func TestAFolderIsOpenedWithTheShardsThatItWasMadeFor(t *testing.T) {
	for _, c := range []struct{ made, opened, hint string }{
		{"1", "2", "set shards: 1"}, {"3", "1", "set shards: 3"}, {"3", "2", "set shards: 3"},
		{"2", "3", "set shards: 2"}, {"1", "1", ""}, {"3", "3", ""},
	} {
		data := filepath.Join(t.TempDir(), "data")
		s, err := sharded(t, data, c.made)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			n := queue.Name{Namespace: queue.DefaultNamespace, Name: name}
			if _, err := s.store.Put(t.Context(), n, []message.Message{{Body: []byte(name)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		s, err = sharded(t, data, c.opened)
		switch {
		case c.hint == "" && err != nil:
			t.Errorf("made with %s, opened with %s: %v", c.made, c.opened, err)
		case c.hint != "" && (err == nil || !strings.Contains(explain(err), c.hint)):
			t.Errorf("made with %s, opened with %s: %v", c.made, c.opened, err)
		}
		if err != nil { // that has changed nothing
			if s, err = sharded(t, data, c.made); err != nil {
				t.Errorf("made with %s, opened with %s, and then as it was made: %v", c.made, c.opened, err)
			}
		}
		if err == nil {
			if names, err := s.store.Queues(t.Context()); err != nil || len(names) != 4 {
				t.Errorf("there are %v, %v", names, err)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// nineQueues makes a folder of three shards with nine queues.
func nineQueues(t *testing.T) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	s, err := sharded(t, data, "3")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		n := queue.Name{Namespace: queue.DefaultNamespace, Name: fmt.Sprint("q", i)}
		if _, err := s.store.Put(t.Context(), n, []message.Message{{}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return data
}

// wantNineQueues opens the folder, looks for them, and closes it.
func wantNineQueues(t *testing.T, data string) {
	t.Helper()
	s, err := sharded(t, data, "3")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := s.store.Queues(t.Context()); err != nil || len(names) != 9 {
		t.Errorf("there are %v, %v", names, err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

func TestAStartWithoutAFolderOfAShardChangesNothing(t *testing.T) {
	data := nineQueues(t)
	for shard := range 3 {
		dir, aside := shardDir(data, shard), filepath.Join(data, "aside")
		if err := os.Rename(dir, aside); err != nil {
			t.Fatal(err)
		}
		refused := func(how string) {
			t.Helper()
			s, err := sharded(t, data, "3")
			if err == nil {
				t.Errorf("opened with the folder of shard %d %s", shard, how)
				_ = s.close()
			} else if !strings.Contains(explain(err), dir+" is missing") {
				t.Errorf("with the folder of shard %d %s: %s", shard, how, explain(err))
			}
		}
		refused("missing")
		if err := os.Mkdir(dir, 0o700); err != nil { // as under a disk that is not mounted
			t.Fatalf("something was made in the place of shard %d: %v", shard, err)
		}
		refused("empty")
		if err := os.Remove(dir); err != nil {
			t.Errorf("something was made in the folder of shard %d: %v", shard, err)
			_ = os.RemoveAll(dir)
		}
		if err := os.Rename(aside, dir); err != nil {
			t.Fatal(err)
		}
		wantNineQueues(t, data)
	}
}

func TestMetricsTellHowFarTheRelayIs(t *testing.T) {
	for shards, want := range map[string]int{"1": 0, "2": 3} {
		s, err := sharded(t, filepath.Join(t.TempDir(), "data"), shards)
		if err != nil {
			t.Fatal(err)
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(s.collectors()...)
		families, err := registry.Gather()
		if err != nil || len(families) != want {
			t.Errorf("%s shards: %v, %v", shards, families, err)
		}
		for _, f := range families {
			m := f.GetMetric()[0]
			if v := m.GetCounter().GetValue() + m.GetGauge().GetValue(); v != 0 {
				t.Errorf("%s is %v, and nothing was carried", f.GetName(), v)
			}
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheJournalsOfAllShardsAreChecked(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s, err := sharded(t, data, "3")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := checkJournal(t.Context(), data, &out); err != nil || strings.Count(out.String(), "damaged places") != 3 {
		t.Errorf("%v\n%s", err, out.String())
	}
	damage(t, filepath.Join(data, "journal-2"))
	if err := checkJournal(t.Context(), data, &out); err == nil || !strings.Contains(err.Error(), "journal-2") {
		t.Errorf("damage in shard 2: %v", err)
	}
}

// damage flips a bit in each checkpoint of a journal.
func damage(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "checkpoint*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAShardDoesNotOpenTheFolderOfAnother puts each two of a folder's journals in the place of each other, and that of
// another folder in its place.
func TestAShardDoesNotOpenTheFolderOfAnother(t *testing.T) {
	swap := func(a, b string) {
		t.Helper()
		for _, r := range [][2]string{{a, a + ".aside"}, {b, a}, {a + ".aside", b}} {
			if err := os.Rename(r[0], r[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, other := nineQueues(t), nineQueues(t)
	const exchanged, strange = "the folders were exchanged", "one of them is of another data_dir"
	for _, c := range []struct{ place, folder, says string }{
		{shardDir(data, 0), shardDir(data, 1), exchanged}, {shardDir(data, 0), shardDir(data, 2), exchanged},
		{shardDir(data, 1), shardDir(data, 2), exchanged}, {shardDir(data, 1), shardDir(other, 1), strange},
		{shardDir(data, 0), shardDir(other, 0), strange}, {shardDir(data, 2), shardDir(other, 2), strange},
	} {
		swap(c.place, c.folder)
		if s, err := sharded(t, data, "3"); err == nil {
			t.Errorf("opened with %s in the place of %s", c.folder, c.place)
			_ = s.close()
		} else if !strings.Contains(explain(err), c.says) {
			t.Errorf("with %s in the place of %s: %s", c.folder, c.place, explain(err))
		}
		swap(c.place, c.folder)
		wantNineQueues(t, data)
	}
}
