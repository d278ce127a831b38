package http_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	shared "github.com/hikyaku/hikyaku/internal/door"
)

// post begins a request with a body of which n bytes are sent.
func (r *rig) post(path, header string, n int) net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n%s", path, header, strings.Repeat("x", n))
	return conn
}

func status(t *testing.T, conn net.Conn) int {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

const (
	news = "/default/queues/q/messages"
	raw  = "Content-Type: text/plain\r\nContent-Length: "
)

func TestABodyWaitsForItsRoom(t *testing.T) {
	all := shared.NewBusy(1 << 20)
	r := start(t, settings{busy: all})
	r.want(201, "PUT", "/default/queues/q", "")
	all.Try(1 << 20) // as if another door had it
	for _, n := range []int{1000, 200_000} {
		conn := r.post(news, raw+fmt.Sprint(n), n)
		waitFor(t, func() bool { // it has been read as far as it is without room
			return strings.Contains(string(r.want(200, "GET", "/metrics", "").body),
				"hikyaku_http_requests_in_flight 2")
		})
		all.Give(1 << 20)
		if got := status(t, conn); got != 200 {
			t.Errorf("status %d", got)
		}
		waitFor(t, func() bool { return all.Used() == 0 })
		all.Try(1 << 20)
	}
	all.Give(1 << 20)
	// takes more than there is for all
	r.refused("too-large", "POST", news, strings.Repeat("x", 600_000), "Content-Type", "text/plain")
	r.want(200, "POST", news, strings.Repeat("x", 400_000), "Content-Type", "text/plain")
	waitFor(t, func() bool { return all.Used() == 0 })
}

// A body of unknown length is refused for good when there can never be room for it, also while others hold what there
// is, and else for now.
func TestABodyOfUnknownLengthIsToldWhetherItCanEverFit(t *testing.T) {
	all := shared.NewBusy(1 << 20)
	r := start(t, settings{busy: all})
	r.want(201, "PUT", "/default/queues/q", "")
	chunked := func(n int) int {
		return status(t, r.post(news, fmt.Sprintf("Content-Type: text/plain\r\nTransfer-Encoding: "+
			"chunked\r\n\r\n%x\r\n%s\r\n0", n, strings.Repeat("x", n)), 0))
	}
	if got := chunked(400_000); got != 413 {
		t.Errorf("status %d of one that can never fit", got)
	}
	waitFor(t, func() bool { return all.Used() == 0 })
	all.Try(1 << 20) // as if another door had it
	if got := chunked(400_000); got != 413 {
		t.Errorf("status %d of one that can never fit, without room", got)
	}
	if got := chunked(100_000); got != 503 {
		t.Errorf("status %d without room", got)
	}
	all.Give(1 << 20)
	if got := chunked(100_000); got != 200 {
		t.Errorf("status %d with room", got)
	}
	waitFor(t, func() bool { return all.Used() == 0 })
}

// Whoever promises a large body and sends little of it leaves the room to others.
func TestAPromiseTakesNoRoom(t *testing.T) {
	all := shared.NewBusy(2 << 20)
	r := start(t, settings{busy: all, config: door.Config{BodyTimeout: time.Hour}})
	r.want(201, "PUT", "/default/queues/q", "")
	for range 5 {
		r.post(news, raw+"800000", 1000)
	}
	waitFor(t, func() bool { return all.Used() >= 5*64<<10 })
	r.want(200, "POST", news, strings.Repeat("x", 600_000), "Content-Type", "text/plain")
}

// An answer is bounded in bytes and says where it goes on; what a page of it holds is counted until it was written.
func TestAPeekIsBoundedInBytesAndCounted(t *testing.T) {
	all := shared.NewBusy(8 << 20)
	r := start(t, settings{busy: all, config: door.Config{StallTimeout: time.Hour}})
	r.want(201, "PUT", "/default/queues/q", "")
	for i := range 40 {
		r.want(200, "POST", news, strings.Repeat(fmt.Sprint(i%10), 1<<20), "Content-Type", "text/plain")
	}
	type page struct {
		Messages []door.Peeked `json:"messages"`
		Next     uint64        `json:"next"`
	}
	seen, after := 0, uint64(0)
	for pages := 0; ; pages++ {
		var p page
		got := r.want(200, "GET", fmt.Sprintf("%s?max=1000&max_bytes=3000000&after=%d", news, after), "")
		got.json(t, &p)
		if len(got.body) > 5<<20 || len(p.Messages) == 0 || pages > 40 {
			t.Fatalf("%d messages in %d bytes", len(p.Messages), len(got.body))
		}
		for i := range p.Messages {
			if len(*p.Messages[i].Body) != 1<<20 {
				t.Fatalf("a body of %d bytes", len(*p.Messages[i].Body))
			}
		}
		seen += len(p.Messages)
		if after = p.Next; after == 0 {
			break
		}
	}
	if seen != 40 {
		t.Errorf("%d messages", seen)
	}
	if got := r.want(200, "GET", news+"?max=1000", ""); len(got.body) > 10<<20 {
		t.Errorf("%d bytes without a bound of the client's", len(got.body))
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s?max=1000&max_bytes=1000000000 HTTP/1.1\r\nHost: localhost\r\n\r\n", news)
	waitFor(t, func() bool { return all.Used() >= 1<<20 }) // it does not read
	if used := all.Used(); used > 2<<20 {
		t.Errorf("one reader holds %d bytes", used)
	}
	conn.Close()
	waitFor(t, func() bool { return all.Used() == 0 })
}

// A claim that has no room is refused, and its messages wait for the next one as if nobody had asked.
func TestAClaimWithoutRoomClaimsNothing(t *testing.T) {
	all := shared.NewBusy(4 << 20)
	all.Patience = 50 * time.Millisecond
	r := start(t, settings{busy: all})
	r.want(201, "PUT", "/default/queues/q", "")
	body := strings.Repeat("é\"<\n", 200_000) + "end"
	r.want(200, "POST", news, body, "Content-Type", "text/plain")
	all.Try(3 << 20)
	r.refused("busy", "POST", "/default/queues/q/claim", `{"max": 5}`)
	all.Give(3 << 20)
	got := r.claim("q", `{"max": 5}`)
	if len(got) != 1 || got[0].Attempt != 1 || *got[0].Body != body {
		t.Errorf("%d claims", len(got))
	}
}

// What is encoded piece by piece reads as what was put.
func TestLargeBodiesAreShownWhole(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	for _, body := range []string{strings.Repeat("\xff\x00\xfe7", 123_457), strings.Repeat("日本\\\"\u2028", 60_001),
		strings.Repeat("a", 96<<10), strings.Repeat("a", 96<<10+1)} {
		r.want(200, "POST", news, body, "Content-Type", "application/octet-stream")
		got := r.claim("q", `{}`)
		if len(got) != 1 {
			t.Fatalf("%d claims", len(got))
		}
		m, err := got[0].Content.Bytes()
		if err != nil || string(m) != body {
			t.Errorf("%d bytes of %d, %v", len(m), len(body), err)
		}

	}
}

// A list has room for its answer before it is made, and ends where there is no more.
func TestAListWaitsForItsRoomAndEndsWithIt(t *testing.T) {
	all := shared.NewBusy(1 << 20)
	all.Patience = 50 * time.Millisecond
	r := start(t, settings{busy: all})
	const n = 60
	for i := range n {
		r.want(201, "PUT", fmt.Sprintf("/default/queues/q%02d", i), "")
	}
	all.Try(1<<20 - 50<<10)
	r.refused("busy", "GET", "/default/queues", "")
	all.Give(50 << 10)
	var names []string
	pages := 0
	for after := ""; ; pages++ {
		var page struct {
			Queues []door.Stats
			Next   string
		}
		r.want(200, "GET", "/default/queues?after="+after, "").json(t, &page)
		for _, q := range page.Queues {
			names = append(names, q.Name)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(names) != n || names[0] != "default/q00" && names[0] != "q00" || pages == 0 {
		t.Errorf("%d pages with %q", pages+1, names)
	}
	all.Give(1<<20 - 100<<10)
	var whole struct{ Queues []door.Stats }
	if r.want(200, "GET", "/default/queues", "").json(t, &whole); len(whole.Queues) != n {
		t.Errorf("with room for all, %d queues are on a page", len(whole.Queues))
	}
	waitFor(t, func() bool { return all.Used() == 0 })
}

// A queue may have labels of any length.
func TestAListIsBoundedInBytes(t *testing.T) {
	r := start(t, settings{})
	labels := strings.Repeat("x", 900_000)
	for i := range 8 {
		r.want(201, "PUT", fmt.Sprintf("/default/queues/q%d", i), fmt.Sprintf(`{"labels":{"long":%q}}`, labels))
		r.want(201, "PUT", fmt.Sprintf("/default/topics/t%d", i), fmt.Sprintf(`{"labels":{"long":%q}}`, labels))
	}
	for _, what := range []string{"queues", "topics"} {
		if got := r.want(200, "GET", "/default/"+what, ""); len(got.body) > 5<<20 {
			t.Errorf("%s: %d bytes", what, len(got.body))
		}
	}
	c := r.client("")
	qs, err := c.Queues(t.Context(), "default")
	ts, err2 := c.Topics(t.Context(), "default")
	if len(qs) != 8 || len(ts) != 8 || err != nil || err2 != nil {
		t.Errorf("%d queues, %v; %d topics, %v", len(qs), err, len(ts), err2)
	}
}
