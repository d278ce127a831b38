package http_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestAWaitingClaimIsHandedTheMessage(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	got := make(chan []door.Claimed)
	go func() { got <- r.claim("q", `{"wait": "60s", "where": "n > 1"}`) }()
	waitFor(t, func() bool { return r.stats("q").Waiters == 1 })
	r.want(200, "POST", "/default/queues/q/messages",
		`{"messages": [{"attributes": {"n": 1}}, {"attributes": {"n": 2}, "body": "two"}]}`)
	if c := <-got; len(c) != 1 || *c[0].Body != "two" || c[0].Attempt != 1 || c[0].Sequence != 2 ||
		c[0].Queue != "default/q" || c[0].Deadline.IsZero() {
		t.Errorf("%+v", c)
	}
}

// waitFor asks until it is so: for states that the door shows but does not announce.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for !so() {
		if t.Context().Err() != nil {
			t.Fatal("the test ended first")
		}
	}
}

func TestAClaimThatDoesNotWaitComesBackEmpty(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	if got := string(r.want(200, "POST", "/default/queues/q/claim", "").body); got != `{"messages":[]}`+"\n" {
		t.Error(got)
	}
	if got := string(r.want(200, "POST", "/default/queues/q/claim", `{"wait": 0.01}`).body); got != `{"messages":[]}`+
		"\n" {
		t.Error(got)
	}
}

func TestClaimsOfSeveralQueuesKeepTheirPriority(t *testing.T) {
	r := start(t, settings{})
	for _, q := range []string{"/default/queues/low", "/default/queues/high", "/shop/queues/other"} {
		r.want(201, "PUT", q, "")
		r.want(200, "POST", q+"/messages", `{"messages": [{"body": "1"}, {"body": "2"}]}`)
	}
	var list claimedList
	r.want(200, "POST", "/default/claim",
		`{"from": [{"queue": "high"}, {"queue": "shop/other"}, {"queue": "low"}], "max": 5}`).json(t, &list)
	var got []string
	for _, c := range list.Messages {
		got = append(got, fmt.Sprintf("%d:%s:%s", c.From, c.Queue, *c.Body))
	}
	if want := "0:default/high:1 0:default/high:2 1:shop/other:1 1:shop/other:2 2:default/low:1"; strings.Join(got,
		" ") != want {
		t.Errorf("%v", got)
	}
	r.refused("bad-request", "POST", "/default/claim", `{"from": []}`)
	r.refused("bad-name", "POST", "/default/claim", `{"from": [{"queue": "a b"}]}`)
	r.refused("not-found", "POST", "/default/claim", `{"from": [{"queue": "missing"}]}`)
	r.refused("bad-condition", "POST", "/default/claim", `{"from": [{"queue": "low", "where": "("}]}`)
	r.refused("bad-request", "POST", "/default/claim", `{"from": [`+strings.Repeat(`{"queue": "low"},`, 100)+
		`{"queue": "low"}]}`)
}

func TestAClaimIsBounded(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	for _, bad := range []string{`{"max": -1}`, `{"max": 10001}`, `{"lease": "169h"}`, `{"lease": -1}`,
		`{"wait": "soon"}`} {
		r.refused("bad-request", "POST", "/default/queues/q/claim", bad)
	}
	big := `{"body": "` + strings.Repeat("x", 1<<20) + `"}`
	for range 12 {
		r.want(200, "POST", "/default/queues/q/messages", big)
	}
	var small strings.Builder
	for i := range 250 {
		fmt.Fprintf(&small, `,{"body": "%d"}`, i)
	}
	r.want(200, "POST", "/default/queues/q/messages", `{"messages": [`+small.String()[1:]+`]}`)
	got := r.claim("q", `{"max": 1000}`)
	if len(got) != 8 { // of the twelve large ones
		t.Errorf("%d messages", len(got))
	}
	if got := r.claim("q", `{"max": 1000}`); len(got) != 254 {
		t.Errorf("then %d messages", len(got))
	}
}

func TestAClientThatLeavesStopsWaiting(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", r.url+"/default/queues/q/claim",
			strings.NewReader(`{"wait": "60s"}`))
		req.Header.Set("Content-Type", "application/json")
		answer, err := r.http.Do(req)
		if err == nil {
			answer.Body.Close()
		}
		left <- err
	}()
	waitFor(t, func() bool { return r.stats("q").Waiters == 1 })
	leave()
	if err := <-left; err == nil {
		t.Error("an answer came")
	}
	waitFor(t, func() bool { return r.stats("q").Waiters == 0 })
	r.want(200, "POST", "/default/queues/q/messages", `{}`)
	if got := r.claim("q", `{}`); len(got) != 1 || got[0].Attempt != 1 {
		t.Errorf("%+v", got)
	}
}

// lateStore hands out claims only after the client is gone.
type lateStore struct {
	door.Store
	entered chan struct{} // closed when the first claim has begun
	claimed chan struct{} // closed when it has been made
	once    sync.Once
}

func (s *lateStore) Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error) {
	first := false
	s.once.Do(func() { first = true })
	if first {
		close(s.entered)
		<-ctx.Done()
		ctx = context.WithoutCancel(ctx)
		defer close(s.claimed)
	}
	return s.Store.Claim(ctx, r)
}

func TestClaimsForAClientThatIsGoneArePutBackUncounted(t *testing.T) {
	late := &lateStore{entered: make(chan struct{}), claimed: make(chan struct{})}
	r := start(t, settings{wrap: func(s door.Store) door.Store { late.Store = s; return late }})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(200, "POST", "/default/queues/q/messages", `{}`)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-late.entered
		leave()
	}()
	req, _ := http.NewRequestWithContext(ctx, "POST", r.url+"/default/queues/q/claim", strings.NewReader(`{"max": 10}`))
	req.Header.Set("Content-Type", "application/json")
	if _, err := r.http.Do(req); err == nil {
		t.Error("an answer came")
	}
	<-late.claimed
	if got := r.claim("q", `{"wait": "60s"}`); len(got) != 1 || got[0].Attempt != 1 {
		t.Errorf("%+v", got)
	}
	waitFor(t, func() bool {
		return strings.Contains(string(r.want(200, "GET", "/metrics", "").body), "hikyaku_http_claims_returned_total 1")
	})
}

func TestAClientThatNeverReadsLosesItsClaims(t *testing.T) {
	r := start(t, settings{config: door.Config{StallTimeout: 100e6}})
	r.want(201, "PUT", "/default/queues/q", "")
	for range 8 {
		r.want(200, "POST", "/default/queues/q/messages", strings.Repeat("x", 4<<20), "Content-Type", "text/plain")
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := `{"max": 8}`
	fmt.Fprintf(conn, "POST /default/queues/q/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", len(request), request)
	waitFor(t, func() bool { return r.stats("q").Claimed > 0 })
	waitFor(t, func() bool { return r.stats("q").Ready == 8 })
	if got := r.claim("q", `{}`); len(got) != 1 || got[0].Attempt != 1 {
		t.Errorf("%d claims", len(got))
	}
}

func TestManyClaimantsGetEachMessageOnce(t *testing.T) {
	const messages, readers = 400, 16
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	var mu sync.Mutex
	seen := map[uint64]int{}
	var readersDone sync.WaitGroup
	for range readers {
		readersDone.Go(func() {
			for {
				got := r.claim("q", `{"max": 7, "wait": "60s", "lease": "60s"}`)
				var tokens []string
				stop := false
				for _, c := range got {
					tokens = append(tokens, `{"token": "`+c.Token+`"}`)
					mu.Lock()
					seen[c.Sequence]++
					mu.Unlock()
					stop = stop || *c.Body == "stop"
				}
				if len(tokens) > 0 {
					r.want(200, "POST", "/default/settle", `{"settlements": [`+strings.Join(tokens, ",")+`]}`)
				}
				if stop {
					return
				}
			}
		})
	}
	for i := range messages {
		r.want(200, "POST", "/default/queues/q/messages", fmt.Sprintf(`{"body": "%d"}`, i))
	}
	waitFor(t, func() bool { return r.stats("q").Messages == 0 })
	for stopped := 0; stopped < readers; stopped++ {
		r.want(200, "POST", "/default/queues/q/messages", `{"body": "stop"}`)
		waitFor(t, func() bool { return r.stats("q").Messages == 0 })
	}
	readersDone.Wait()
	if len(seen) != messages+readers {
		t.Errorf("%d messages were seen", len(seen))
	}
	for seq, n := range seen {
		if n != 1 {
			t.Errorf("message %d was handed out %d times", seq, n)
		}
	}
}
