package httpserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector settles what it is sent as answer says; without one, at once as delivered.
type collector struct {
	answer func(component.Delivery)
	mu     sync.Mutex
	got    []*message.Message
}

func (c *collector) Send(_ context.Context, d component.Delivery) error {
	c.mu.Lock()
	c.got = append(c.got, d.Message)
	c.mu.Unlock()
	if c.answer != nil {
		c.answer(d)
		return nil
	}
	d.Settle(component.Outcome{})
	return nil
}

func (c *collector) take() (bodies []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		bodies = append(bodies, string(m.Body))
	}
	c.got = nil
	return bodies
}

func run(t *testing.T, c Config, out component.Out) (s *Source, end func(closing func())) {
	t.Helper()
	return runIn(t, component.Env{}, c, out)
}

func runIn(t *testing.T, env component.Env, c Config, out component.Out) (s *Source, end func(closing func())) {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	made, err := New(c, env)
	if err != nil {
		t.Fatal(err)
	}
	s = made.(*Source)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, out) }()
	var once sync.Once
	end = func(closing func()) {
		once.Do(func() {
			cancel()
			if err := <-ended; err != context.Canceled {
				t.Errorf("it ended with %v", err)
			}
			closing()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			http.DefaultClient.CloseIdleConnections()
		})
	}
	t.Cleanup(func() { end(func() {}) })
	return s, end
}

// post posts a body and returns the status and the header of the answer.
func post(t *testing.T, s *Source, path, body string, headers ...string) (int, http.Header) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+s.Address().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer a.Body.Close()
	_, _ = io.Copy(io.Discard, a.Body)
	return a.StatusCode, a.Header
}

func TestABodyBecomesMessagesAsTheFramingSays(t *testing.T) {
	for _, c := range []struct {
		framing, body string
		want          []string
		status        int
	}{
		{"", "a\nb", []string{"a\nb"}, 200},
		{"lines", "a\r\n\nb\n", []string{"a", "b"}, 200},
		{"json", ` [{"a":1}, "b", [2]] `, []string{`{"a":1}`, `"b"`, "[2]"}, 200},
		{"json", ` {"a":1}`, []string{`{"a":1}`}, 200},
		{"json", `[{"a":1}, `, nil, 400},
		{"json", ``, nil, 400},
	} {
		out := &collector{}
		s, _ := run(t, Config{Framing: c.framing}, out)
		status, _ := post(t, s, "/", c.body)
		if got := out.take(); status != c.status || !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %d, %q", c.framing, c.body, status, got)
		}
	}
}

func TestPathMethodHeadersAndQueryBecomeAttributes(t *testing.T) {
	out := &collector{}
	s, _ := run(t, Config{Path: "/in", Headers: []string{"x-tenant"}, Query: []string{"q"}}, out)
	if status, _ := post(t, s, "/in?q=1&z=2", "x", "X-Tenant", "acme", "X-Other", "no"); status != 200 {
		t.Fatal(status)
	}
	var got []string
	for _, a := range out.got[0].Attributes {
		got = append(got, a.Name+"="+a.Value.Text())
	}
	if want := []string{"X-Tenant=acme", "method=POST", "path=/in", "q=1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if status, _ := post(t, s, "/other", "x"); status != 404 {
		t.Errorf("another path: %d", status)
	}
	a, err := http.Get("http://" + s.Address().String() + "/in")
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != 405 {
		t.Errorf("GET: %d", a.StatusCode)
	}
}

func TestOnlyWhoShowsWhatIsWantedComesIn(t *testing.T) {
	secret := access.Secret("s3cr3t")
	for _, c := range []struct {
		auth        Auth
		good, wrong string
	}{
		{Auth{Token: secret}, "Bearer s3cr3t", "Bearer s3cr3"},
		{Auth{User: "joe", Password: secret}, "Basic am9lOnMzY3IzdA==", "Basic am9lOnMzY3Iz"},
	} {
		s, _ := run(t, Config{Auth: c.auth}, &collector{})
		if status, _ := post(t, s, "/", "x", "Authorization", c.good); status != 200 {
			t.Errorf("%s: %d", c.good, status)
		}
		for _, wrong := range []string{c.wrong, "", "Bearer ", "Basic Og=="} {
			if status, h := post(t, s, "/", "x", "Authorization", wrong); status != 401 ||
				h.Get("WWW-Authenticate") == "" {
				t.Errorf("%q: %d, %v", wrong, status, h)
			}
		}
		if told := fmt.Sprint(s.Notices(), s.Config); strings.Contains(told, "s3cr3") {
			t.Errorf("told is %s", told)
		}
	}
	for setting, c := range map[string]Config{
		"auth": {Listen: "0.0.0.0:80"}, "listen": {Listen: "80"}, "headers[0]": {Headers: []string{"authorization"}},
	} {
		if _, err := New(c, component.Env{}); err == nil || err.(*component.SettingError).Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestBodiesAreUnpackedAndBounded(t *testing.T) {
	const most = 1000
	gzipped := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text)) // into memory
		z.Close()
		return b.String()
	}
	zstded := func(text string) string {
		z, _ := zstd.NewWriter(nil)
		defer z.Close()
		return string(z.EncodeAll([]byte(text), nil))
	}
	fits, large := strings.Repeat("x", most), strings.Repeat("x", most+1)
	out := &collector{}
	s, _ := run(t, Config{MaxBodyBytes: most}, out)
	for _, c := range []struct {
		encoding, body string
		status         int
	}{
		{"", fits, 200}, {"", large, 413},
		{"gzip", gzipped(fits), 200}, {"gzip", gzipped(large), 413}, {"gzip", "no gzip", 400},
		{"gzip", gzipped(strings.Repeat("x", 10<<20))[:900], 413},
		{"zstd", zstded(fits), 200}, {"zstd", zstded(large), 413}, {"zstd", "no zstd", 400}, {"br", "x", 415},
	} {
		headers := []string{}
		if c.encoding != "" {
			headers = []string{"Content-Encoding", c.encoding}
		}
		status, _ := post(t, s, "/", c.body, headers...)
		got := out.take()
		if status != c.status || (status == 200) != (len(got) == 1 && got[0] == fits) {
			t.Errorf("%q, %d bytes: %d, %d messages", c.encoding, len(c.body), status, len(got))
		}
	}
}

func TestARequestIsAnsweredWhenItsMessagesAreSettled(t *testing.T) {
	settle := make(chan func(component.Outcome), 2)
	out := &collector{answer: func(d component.Delivery) { settle <- d.Settle }}
	s, end := run(t, Config{Framing: "lines"}, out)
	for _, c := range []struct {
		second component.Outcome
		status int
	}{{component.Outcome{}, 200}, {component.Again(0, io.EOF), 503}} {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			if status, h := post(t, s, "/", "a\nb\n"); status != c.status ||
				(status == 503) != (h.Get("Retry-After") != "") {
				t.Errorf("%v: %d, %v", c.second, status, h)
			}
		}()
		first, second := <-settle, <-settle
		first(component.Outcome{})
		select {
		case <-answered:
			t.Error("it was answered before its last message was settled")
		default:
		}
		second(c.second)
		<-answered
	}
	// What is under way at a stop is settled after it, and answered then.
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if status, _ := post(t, s, "/", "a\n"); status != 200 {
			t.Errorf("the last answer is %d", status)
		}
	}()
	last := <-settle
	end(func() {
		last(component.Outcome{})
		<-answered
	})
}

func TestWhatIsNotSettledInTimeIsAskedForAgain(t *testing.T) {
	var late []func(component.Outcome)
	out := &collector{answer: func(d component.Delivery) { late = append(late, d.Settle) }}
	s, _ := run(t, Config{Timeout: 100 * time.Millisecond}, out)
	if status, _ := post(t, s, "/", "x"); status != 503 {
		t.Error(status)
	}
	late[0](component.Outcome{})
	waittest.Until(t, "it was counted", func() bool { return s.Counts()["late"] == 1 })
}

// A body takes its room until its request is answered: many clients together have no more than the account has.
func TestBodiesOfAllRequestsAreBoundedTogether(t *testing.T) {
	const mib = 1 << 20
	account := door.NewBusy(4 * mib)
	account.Patience = 20 * time.Millisecond
	came := make(chan component.Delivery, 1)
	out := &collector{answer: func(d component.Delivery) { came <- d }}
	s, _ := runIn(t, component.Env{Busy: account}, Config{MaxBodyBytes: 8 * mib}, out)
	body := strings.Repeat("x", mib)
	first := make(chan int)
	go func() {
		status, _ := post(t, s, "/", body)
		first <- status
	}()
	held := <-came
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(body)) // into memory
	z.Close()
	for name, headers := range map[string][]string{"plain": nil, "gzip": {"Content-Encoding", "gzip"}} {
		text := body
		if headers != nil {
			text = packed.String()
		}
		if status, h := post(t, s, "/", text, headers...); status != 503 || h.Get("Retry-After") == "" {
			t.Errorf("%s beside one that has the room: %d, %v", name, status, h)
		}
	}
	if status, _ := post(t, s, "/", strings.Repeat("x", 2*mib)); status != 413 {
		t.Errorf("a body that never fits: %d", status)
	}
	held.Settle(component.Outcome{})
	if status := <-first; status != 200 {
		t.Errorf("who has the room: %d", status)
	}
	waittest.Until(t, "its room to be given back", func() bool { return account.Used() == 0 })
	go func() { (<-came).Settle(component.Outcome{}) }()
	if status, _ := post(t, s, "/", body); status != 200 {
		t.Errorf("when there is room again: %d", status)
	}
}
