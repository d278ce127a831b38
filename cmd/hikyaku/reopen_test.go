package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

var errDisk = errors.New("the disk is broken")

// onDisks is a server whose journals are on disks that fail when they are told to.
type onDisks struct {
	*httpdoor.Client
	disks []*faultfs.Disk // by shard
	url   string
	stop  func()
	ended chan struct{}
	err   error // of serve, once it has ended
}

// serveOnDisks runs serve in this process. more is what its configuration has besides.
func serveOnDisks(t *testing.T, shards int, more string) *onDisks {
	t.Helper()
	dir := t.TempDir()
	s := &onDisks{ended: make(chan struct{})}
	of := map[string]*faultfs.Disk{}
	for i := range shards {
		s.disks = append(s.disks, faultfs.New())
		of[shardDir(dir, i)] = s.disks[i]
	}
	before := journalFS
	journalFS = func(dir string) file.FS { return of[dir] }
	t.Cleanup(func() { journalFS = before })
	listen, err := freeport.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := config.Parse("test.yaml", fmt.Appendf(nil, `data_dir: %s
shards: %d
journal: { segment_bytes: 1MiB }
api: { http: { listen: %q }, mysql: { off: true }, pubsub: { off: true }, sqs: { off: true }, lambda: { off: true } }
%s`, dir, shards, listen[0], more), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listen[0]
	if s.Client, err = httpdoor.NewClient(httpdoor.ClientConfig{URL: s.url}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	go func() {
		defer close(s.ended)
		s.err = serve(ctx, &serveFlags{}, f)
	}()
	t.Cleanup(func() {
		s.stop()
		<-s.ended
		s.Close()
	})
	waittest.Until(t, "it is ready", s.ready)
	return s
}

func (s *onDisks) ready() bool {
	said, err := http.Get(s.url + "/readyz")
	if err != nil {
		return false
	}
	_ = said.Body.Close()
	return said.StatusCode == http.StatusOK
}

func (s *onDisks) put(t *testing.T, queueName, body string) error {
	t.Helper()
	_, err := s.Put(t.Context(), queue.Name{Namespace: "default", Name: queueName}, httpdoor.Message{Body: &body})
	return err
}

// take claims everything in a queue, and settles it.
func (s *onDisks) take(t *testing.T, queueName string) (bodies []string) {
	t.Helper()
	for {
		cs, err := s.Claim(t.Context(), queue.Name{Namespace: "default", Name: queueName},
			httpdoor.ClaimRequest{Max: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(cs) == 0 {
			return bodies
		}
		var done []httpdoor.Settlement
		for i := range cs {
			bodies = append(bodies, *cs[i].Body)
			done = append(done, httpdoor.Settlement{Token: cs[i].Token})
		}
		if _, err := s.Settle(t.Context(), done...); err != nil {
			t.Fatal(err)
		}
	}
}

// breaks has a disk refuse operations of a kind on the log, until it is called with false.
func breaks(d *faultfs.Disk, kind string, on bool) {
	if d.Fault(nil); on {
		d.Fault(func(op faultfs.Op) error {
			if op.Kind == kind && strings.HasSuffix(op.Name, ".log") {
				return errDisk
			}
			return nil
		})
	}
}

// TestAServerGoesOnAfterAWriteThatTheDiskRefused: it opens its journal again in the same process, with everything that
// was acknowledged, once, and a claim of before holds.
func TestAServerGoesOnAfterAWriteThatTheDiskRefused(t *testing.T) {
	for _, shards := range []int{1, 2} {
		t.Run(fmt.Sprintf("shards %d", shards), func(t *testing.T) {
			s := serveOnDisks(t, shards, "")
			var want []string
			put := func(body string) bool {
				err := s.put(t, "news", body)
				if err == nil {
					want = append(want, body)
				}
				return err == nil
			}
			if err := s.put(t, "held", "claimed before"); err != nil {
				t.Fatal(err)
			}
			held, err := s.Claim(t.Context(), queue.Name{Namespace: "default", Name: "held"},
				httpdoor.ClaimRequest{Lease: httpdoor.Duration(time.Hour)})
			if err != nil || len(held) != 1 {
				t.Fatal(held, err)
			}
			for round := range 2 {
				for i := range 20 {
					if !put(fmt.Sprint("sound ", round, i)) {
						t.Fatal("a put failed on a sound disk")
					}
				}
				for _, d := range s.disks {
					breaks(d, "write", true)
				}
				for i := 0; put(fmt.Sprint("broken ", round, i)); i++ {
				}
				for _, d := range s.disks {
					breaks(d, "write", false)
				}
				waittest.Until(t, "puts are taken again", func() bool {
					return put(fmt.Sprint("again ", round, len(want)))
				})
			}
			waittest.Until(t, "it is ready again", s.ready)
			if _, err := s.Settle(t.Context(), httpdoor.Settlement{Token: held[0].Token}); err != nil {
				t.Errorf("settle a claim of before: %v", err)
			}
			if more := s.take(t, "held"); len(more) > 0 {
				t.Errorf("what was settled is there again: %q", more)
			}
			got := s.take(t, "news")
			seen := map[string]int{}
			for _, body := range got {
				seen[body]++
			}
			for _, body := range want {
				if seen[body] != 1 {
					t.Errorf("%q, which was acknowledged, is there %d times", body, seen[body])
				}
			}
			s.stop()
			if <-s.ended; s.err != nil {
				t.Errorf("it ended with %v", s.err)
			}
		})
	}
}

// TestAShardOfAServerComesBackAloneWhileTheOthersServe, and pipelines that read from it go on.
func TestAShardOfAServerComesBackAloneWhileTheOthersServe(t *testing.T) {
	const queues = 8
	more := "sources:\n"
	var inputs []string
	for i := range queues {
		inputs = append(inputs, fmt.Sprint("s", i))
		more += fmt.Sprintf("  s%d: { type: queue, queue: in%d }\n", i, i)
	}
	more += fmt.Sprintf("sinks:\n  out: { type: queue, inputs: [%s], queue: out }\n", strings.Join(inputs, ", "))
	s := serveOnDisks(t, 2, more)
	want := map[string]bool{}
	round := func(name string) (away int) {
		for i := range queues {
			body := fmt.Sprint(name, " ", i)
			switch err := s.put(t, fmt.Sprint("in", i), body); {
			case err == nil:
				want[body] = true
			case !strings.Contains(err.Error(), "store is unavailable"):
				t.Fatalf("a put to a shard that is away: %v", err)
			default:
				away++
			}
		}
		return away
	}
	if away := round("sound"); away > 0 {
		t.Fatalf("%d puts failed on sound disks", away)
	}
	breaks(s.disks[1], "write", true)
	if away := round("away") + round("away, too"); away == 0 || away == 2*queues {
		t.Errorf("%d of %d puts failed", away, 2*queues)
	}
	res, err := http.Get(s.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(said), "shard 1:") ||
		!strings.Contains(string(said), `"reason":"reopening"`) {
		t.Errorf("ready says %d %s %v", res.StatusCode, said, err)
	}
	_ = res.Body.Close()
	breaks(s.disks[1], "write", false)
	waittest.Until(t, "it is ready again", s.ready)
	if away := round("again"); away > 0 {
		t.Errorf("%d puts failed afterwards", away)
	}
	seen := map[string]bool{}
	waittest.Until(t, "the pipeline has brought everything", func() bool {
		for _, body := range s.take(t, "out") {
			seen[body] = true
		}
		for body := range want {
			if !seen[body] {
				return false
			}
		}
		return true
	})
	s.stop()
	if <-s.ended; s.err != nil {
		t.Errorf("it ended with %v", s.err)
	}
}

func TestAServerEndsAfterASyncThatFailed(t *testing.T) {
	s := serveOnDisks(t, 1, "")
	if err := s.put(t, "news", "one"); err != nil {
		t.Fatal(err)
	}
	breaks(s.disks[0], "sync", true)
	if err := s.put(t, "news", "two"); err == nil {
		t.Error("a put is acknowledged whose sync failed")
	}
	if <-s.ended; !errors.Is(s.err, journal.ErrFailed) || errors.Is(s.err, journal.ErrReopen) {
		t.Errorf("it ended with %v", s.err)
	}
}

// TestAJournalIsOpenedAgainAFewTimesOnly, each time after a longer pause, and anew after it was well for a while.
func TestAJournalIsOpenedAgainAFewTimesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := memory.New()
		why := fmt.Errorf("%w (%w)", journal.ErrFailed, journal.ErrReopen)
		fresh := func() *memory.Journal {
			j, err := d.Open(memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			j.Break(why)
			return j
		}
		var r reopening
		j := fresh()
		j.FailReopen(fmt.Errorf("the disk is away (%w)", journal.ErrReopen))
		began := time.Now()
		if _, err := r.all(t.Context(), []journal.Journal{j}, why); !errors.Is(err, journal.ErrFailed) ||
			errors.Is(err, journal.ErrReopen) {
			t.Errorf("after all tries: %v", err)
		}
		if took := time.Since(began); took < 20*time.Second || took > time.Minute {
			t.Errorf("it was tried for %v", took)
		}
		if _, err := r.all(t.Context(), []journal.Journal{fresh()}, why); err == nil {
			t.Error("one more try was made at once")
		}
		_ = d.Owner().Close()
		time.Sleep(reopenCalm + time.Second)
		js, err := r.all(t.Context(), []journal.Journal{fresh()}, why)
		if err != nil {
			t.Fatalf("after a while: %v", err)
		}
		_ = closeJournals(js)
		j = fresh()
		j.FailReopen(errDisk)
		began = time.Now()
		if _, err := r.all(t.Context(), []journal.Journal{j}, why); !errors.Is(err, errDisk) {
			t.Errorf("what cannot be opened again: %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it was tried for %v", took)
		}
	})
}

// closes is a journal that can be opened again, and whose Close then fails.
type closes struct {
	*memory.Journal
	err error
}

func (c *closes) Reopen(context.Context) (journal.Journal, error) { return c, nil }

func (c *closes) Close() error { return errors.Join(c.Journal.Close(), c.err) }

func TestNothingIsOpenedAgainBesideAJournalThatIsInDoubt(t *testing.T) {
	away := fmt.Errorf("the disk is away (%w)", journal.ErrReopen)
	for _, c := range []struct {
		closed error
		again  bool
	}{
		{nil, true},
		{away, true},
		{fmt.Errorf("%w: a sync has failed", journal.ErrFailed), false},
	} {
		one, err := memory.New().Open(memory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		two, err := memory.New().Open(memory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		two.Break(fmt.Errorf("%w (%w)", journal.ErrFailed, journal.ErrReopen))
		two.FailReopen(away)
		_, err = reopenAll(t.Context(), []journal.Journal{&closes{one, c.closed}, two})
		if err == nil || errors.Is(err, journal.ErrReopen) != c.again {
			t.Errorf("closing the other one says %v: %v", c.closed, err)
		}
	}
}

func TestDoorsThatChanceHasPlacedStayWhereTheyAre(t *testing.T) {
	a := addresses{}
	a.note("http", "127.0.0.1:0", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711})
	a.note("sqs", "127.0.0.1:9324", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9324})
	var api config.API
	api.HTTP.Listen, api.SQS.Listen = "127.0.0.1:0", "localhost:9324"
	if got := a.in(api); got.HTTP.Listen != "127.0.0.1:4711" || got.SQS.Listen != "localhost:9324" {
		t.Errorf("%q, %q", got.HTTP.Listen, got.SQS.Listen)
	}
}

// TestTheLogSaysWhatAFailedWriteHasCost: with durability none it costs what was acknowledged before it was written.
func TestTheLogSaysWhatAFailedWriteHasCost(t *testing.T) {
	for durability, lost := range map[string]bool{"fsync": false, "os": false, "none": true} {
		said := onStandardError(t, func() {
			s := serveOnDisks(t, 1, "durability: "+durability+"\n")
			breaks(s.disks[0], "write", true)
			waittest.Until(t, "a put is refused", func() bool {
				return s.put(t, "news", strings.Repeat("x", 1000)) != nil
			})
			breaks(s.disks[0], "write", false)
			waittest.Until(t, "it is ready again", s.ready)
			s.stop()
			<-s.ended
		})
		if strings.Contains(said, "acknowledged and not written yet is lost") != lost ||
			strings.Contains(said, "nothing that was acknowledged is in doubt") == lost {
			t.Errorf("durability %s: %s", durability, said)
		}
	}
}

// onStandardError is what is written there while a function runs.
func onStandardError(t *testing.T, do func()) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = before }()
	do()
	said, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}
