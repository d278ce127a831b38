package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// busyStore has queues that are as busy as a test says.
type busyStore struct {
	door.Store
	mu    sync.Mutex
	names []queue.Name
	stats map[string]queue.Stats // by name; none: nothing happened
	err   error
	looks atomic.Int32
}

func (s *busyStore) Resolve(n queue.Name) queue.Name { return n }

func (s *busyStore) Queues(context.Context) ([]queue.Name, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks.Add(1)
	return s.names, s.err
}

func (s *busyStore) Stats(_ context.Context, n queue.Name) (queue.Stats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats[n.Name], nil
}

// is has the store list these queues, or fail.
func (s *busyStore) is(names []queue.Name, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.err = names, err
}

func (s *busyStore) make(n int, name string) {
	for i := range n {
		s.names = append(s.names, queue.Name{Namespace: "default", Name: fmt.Sprintf(name, i)})
	}
}

func (s *busyStore) has(name string, ready int64, put uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats[name] = queue.Stats{Ready: ready, TotalPut: put}
}

// recording runs f with a door that records over a store, by the clock of the test.
func recording(t *testing.T, s *busyStore, components int, f func(d *door.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.stats = map[string]queue.Stats{}
		d, err := door.New(door.Config{}, door.Options{Store: s, Components: func() []pipeline.NodeStats {
			nodes := make([]pipeline.NodeStats, components)
			for i := range nodes {
				nodes[i] = pipeline.NodeStats{Name: fmt.Sprintf("c%d", i), Kind: pipeline.KindSource, InFlight: 7}
			}
			return nodes
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		wait := d.Record(ctx)
		time.Sleep(time.Millisecond) // behind each step of the recorder
		f(d)
		stop()
		wait()
	})
}

// pastOf asks for one row.
func pastOf(t *testing.T, d *door.Server, what, name string) map[string]door.Points {
	t.Helper()
	q := url.Values{"what": {what}}
	if name != "" {
		q.Set("of", name)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/-/past?"+q.Encode(), nil)
	r.Host = "localhost"
	d.Handler().ServeHTTP(w, r)
	var p door.Past
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 200 || len(p.Rows) != 1 || p.Step != 5 {
		t.Fatalf("%d %v: %s", w.Code, err, w.Body)
	}
	return p.Rows[0].Values
}

// newest shows the last n points; - is one of which nothing is known.
func newest(p door.Points, n int) string {
	var s []string
	for _, v := range p[len(p)-n:] {
		if math.IsNaN(float64(v)) {
			s = append(s, "-")
		} else {
			s = append(s, fmt.Sprint(v))
		}
	}
	return strings.Join(s, " ")
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %s, not %s", got, want)
	}
}

func TestThePastIsAPointEachFiveSecondsOfFifteenMinutes(t *testing.T) {
	s := &busyStore{}
	s.make(2, "q%d")
	recording(t, s, 1, func(d *door.Server) {
		s.has("q0", 3, 100)
		s.has("q1", 2, 0)
		time.Sleep(5 * time.Second)
		s.has("q0", 1, 200)
		time.Sleep(5 * time.Second)
		q := pastOf(t, d, "queue", "q0")
		same(t, newest(q["ready"], 4), "- 0 3 1")
		same(t, newest(q["in"], 4), "- - 20 20") // rates are of the time between two looks
		sum := pastOf(t, d, "all", "")
		same(t, newest(sum["ready"], 3), "0 5 3")
		c := pastOf(t, d, "component", "c0")
		same(t, newest(c["in_flight"], 4), "- 7 7 7")
		same(t, newest(c["p99_seconds"], 1), "-")

		s.is(s.names, errors.New("the store is away"))
		time.Sleep(20 * time.Second)
		same(t, newest(pastOf(t, d, "all", "")["ready"], 5), "5 3 - - -") // what is due and has not come is a gap
		s.is(s.names, nil)
		time.Sleep(5 * time.Second)
		same(t, newest(pastOf(t, d, "all", "")["ready"], 7), "5 3 - - - - 3")
		time.Sleep(15 * time.Minute)
		q = pastOf(t, d, "queue", "q0")
		same(t, newest(q["ready"], len(q["ready"])), strings.TrimSpace(strings.Repeat("1 ", 180)))

		s.is(s.names, errors.New("the store is away again"))
		time.Sleep(15 * time.Second)
		s.is(s.names, nil)
		time.Sleep(5 * time.Second)
		same(t, newest(pastOf(t, d, "queue", "q0")["ready"], 5), "1 - - - 1") // not what was 15 minutes before
	})
}

func TestVeryManyQueuesAreLookedAtLessOften(t *testing.T) {
	s := &busyStore{}
	s.make(1001, "q%d")
	recording(t, s, 0, func(d *door.Server) {
		s.has("q7", 4, 0)
		time.Sleep(time.Minute)
		if n := s.looks.Load(); n != 5 {
			t.Errorf("all queues were looked at %d times in a minute", n)
		}
		same(t, newest(pastOf(t, d, "all", "")["ready"], 14), "- 0 4 4 4 4 4 4 4 4 4 4 4 4")
		same(t, newest(pastOf(t, d, "queue", "q7")["ready"], 3), "4 4 4")
	})
}

func TestTheMemoryOfThePastIsBounded(t *testing.T) {
	s := &busyStore{}
	s.make(3000, "%0"+fmt.Sprint(queue.MaxNameBytes)+"d") // as long as names may be
	recording(t, s, 2000, func(d *door.Server) {
		for round := range 5 {
			for i := range 400 {
				s.has(s.names[(round*400+i)%3000].Name, int64(round+1), uint64(round)*1000)
			}
			time.Sleep(15 * time.Second)
		}
		if bytes, queues, others := d.PastSize(); bytes > 4<<20 || queues != 500 || others != 500 {
			t.Errorf("%d bytes of %d queues and %d others are kept", bytes, queues, others)
		}
		s.is(s.names[:10], nil)
		time.Sleep(15 * time.Second)
		if _, queues, _ := d.PastSize(); queues != 10 {
			t.Errorf("of 10 queues that are left %d are kept", queues)
		}
	})
}

func TestQueuesThatWereBusyLongestAgoMakeRoom(t *testing.T) {
	s := &busyStore{}
	s.make(1500, "q%d")
	recording(t, s, 0, func(d *door.Server) {
		busy := func(from, to int, ready int64) {
			for i := from; i < to; i++ {
				s.has(fmt.Sprintf("q%d", i), ready, 0)
			}
			time.Sleep(15 * time.Second)
		}
		known := func(name string) int {
			n := 0
			for _, v := range pastOf(t, d, "queue", name)["ready"] {
				if !math.IsNaN(float64(v)) {
					n++
				}
			}
			return n
		}
		busy(1000, 1250, 5) // takes room of quiet ones
		if got := known("q1000"); got != 3 {
			t.Errorf("a queue that came in has %d points", got)
		}
		busy(1000, 1250, 0)
		busy(1250, 1500, 5) // again of quiet ones, not of those that were full a moment ago
		if got := known("q1000"); got != 9 {
			t.Errorf("a queue that was full a moment ago has %d points", got)
		}
		busy(1250, 1500, 0)
		busy(500, 750, 5) // only those that were full longest ago are left
		if got := known("q1000"); got != 0 {
			t.Errorf("the one that was full longest ago has %d points", got)
		}
		if got := known("q1300"); got != 9 {
			t.Errorf("one that was full later has %d points", got)
		}
		busy(500, 750, 0)
		busy(1000, 1001, 5)
		if got := known("q1000"); got != 3 {
			t.Errorf("it came back with %d points, not anew", got)
		}
	})
}

func TestThePastIsForThoseWhoMaySeeIt(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	var delivered atomic.Uint64
	r := start(t, settings{users: []access.User{
		{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
		{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")},
	}, components: func() []pipeline.NodeStats {
		return []pipeline.NodeStats{{Name: "hook", Kind: pipeline.KindSink, Delivered: delivered.Load()}}
	}})
	r.secret = "all-secret"
	for _, q := range []string{"news", "jobs"} {
		r.want(201, "PUT", "/default/queues/"+q, "")
	}
	var p door.Past
	r.want(200, "GET", "/-/past?of=news&of=default%2Fjobs", "").json(t, &p)
	if len(p.Rows) != 2 || p.Rows[0].Name != "default/news" || p.Rows[1].Name != "default/jobs" ||
		len(p.Rows[1].Values) != 4 || len(p.Rows[1].Values["in"]) != 180 {
		t.Errorf("two queues: %+v", p)
	}
	r.want(200, "GET", "/-/past?what=all", "")
	r.refused("not-recorded", "GET", "/-/past?what=component&of=none", "")
	r.refused("not-found", "GET", "/-/past?of=none", "")
	for _, bad := range []string{"", "what=weight", "of=news&what=all", "of=news&for=x", "what=door",
		"of=a" + strings.Repeat("&of=a", door.MaxPast)} {
		if p := r.refused("bad-request", "GET", "/-/past?"+bad, ""); p.Hint == "" && !strings.HasPrefix(bad, "of=a&") {
			t.Errorf("%s: %+v", bad, p)
		}
	}
	r.secret = "reader-secret"
	r.want(200, "GET", "/-/past?of=news", "")
	for _, more := range []string{"of=jobs", "of=news&of=jobs", "what=all", "what=component&of=hook",
		"what=door&of=http"} {
		r.refused("forbidden", "GET", "/-/past?"+more, "")
	}
}
