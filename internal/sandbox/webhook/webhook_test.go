package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) (*Server, *http.Client) {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		c.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

// call makes a request; status is 0 when the connection ended without an answer.
func call(t *testing.T, c *http.Client, method, url, id, body string) (status int, text string, h http.Header) {
	t.Helper()
	return callWith(t, t.Context(), c, method, url, id, body)
}

// hang makes a request that is not answered, and gives it up when the receiver has counted it so often and has had time
// to answer.
func hang(t *testing.T, s *Server, c *http.Client, url, id, body string, counts int) (status int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := s.Counts().Requests
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for (s.Counts().Requests == before || s.Count(id) != counts) && ctx.Err() == nil {
			runtime.Gosched() // the request is on its way
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done(): // it was answered
		}
		cancel()
	})
	status, _, _ = callWith(t, ctx, c, "POST", url, id, body)
	cancel()
	waiting.Wait()
	return status
}

func callWith(t *testing.T, ctx context.Context, c *http.Client, method, url, id, body string) (status int, text string,
	h http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if id != "" {
		req.Header.Set(headerID, id)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", nil
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 256)) // what trickles has no end
	return resp.StatusCode, string(b), resp.Header
}

func TestMessagesAreCountedByTheirID(t *testing.T) {
	s, c := listen(t)
	for _, id := range []string{"a", "b", "a", ""} {
		if status, _, _ := call(t, c, "POST", s.URL(), id, "hello"); status != 200 {
			t.Fatalf("status %d", status)
		}
	}
	if got, want := s.Counts(), (Counts{Requests: 4, Delivered: 4, Messages: 2, Doubles: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s.Count("a") != 2 || s.Count("b") != 1 || s.Count("c") != 0 {
		t.Error("wrong counts of single messages")
	}
	if r := s.Requests(); len(r) != 4 || string(r[3].Body) != "hello" || r[3].Did != Accept {
		t.Errorf("%+v", r)
	}
	s.Forget()
	if s.Counts() != (Counts{}) || len(s.Requests()) != 0 {
		t.Error("not forgotten")
	}
}

func TestABatchIsCountedByItsMembers(t *testing.T) {
	s, c := listen(t)
	call(t, c, "POST", s.URL(), "", `[{"id":"a","body":1},{"id":"b"}]`)
	call(t, c, "POST", s.URL(), "", "{\"id\":\"b\"}\n{\"id\":\"c\"}\n")
	call(t, c, "POST", s.URL(), "", `[{"no":"id"}]`)
	if got, want := s.Counts(), (Counts{Requests: 3, Delivered: 3, Messages: 3, Doubles: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestItMisbehavesAsItIsTold(t *testing.T) {
	s, c := listen(t)
	for _, b := range []struct {
		do     Behaviour
		status int // 0: none
		counts int
	}{
		{Behaviour{Do: Accept}, 200, 1},
		{Behaviour{}, 200, 1},
		{Behaviour{Do: Status}, 500, 0},
		{Behaviour{Do: Status, Code: 429, RetryAfter: "3"}, 429, 0},
		{Behaviour{Do: Status, Code: 202}, 202, 1},
		{Behaviour{Do: Hang}, 0, 0},
		{Behaviour{Do: Reset}, 0, 0},
		{Behaviour{Do: Forget}, 0, 1},
		{Behaviour{Do: Garbage}, 0, 0},
		{Behaviour{Do: Half}, 200, 1},
		{Behaviour{Do: Slow, Delay: Duration(time.Millisecond)}, 200, 1},
		{Behaviour{Do: Trickle, Delay: Duration(time.Millisecond)}, 200, 1},
		{Behaviour{Do: Redirect, Location: "/x"}, 307, 0},
	} {
		s.Forget()
		if err := s.Script(b.do); err != nil {
			t.Fatal(err)
		}
		var status int
		var h http.Header
		if b.do.Do == Hang {
			status = hang(t, s, c, s.URL(), "id", "x", b.counts)
		} else {
			status, _, h = call(t, c, "POST", s.URL(), "id", "x")
		}
		if status != b.status || s.Count("id") != b.counts {
			t.Errorf("%+v: status %d, counted %d", b.do, status, s.Count("id"))
		}
		if h.Get("Retry-After") != b.do.RetryAfter || h.Get("Location") != b.do.Location {
			t.Errorf("%+v: header %v", b.do, h)
		}
	}
}

func TestAScriptIsFollowedOnceAndThenWhatHoldsAlways(t *testing.T) {
	s, c := listen(t)
	if err := s.Always(Behaviour{Do: Status, Code: 503}); err != nil {
		t.Fatal(err)
	}
	if err := s.Script(Behaviour{Do: Status, Code: 500}, Behaviour{Do: Accept}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{500, 200, 503, 503} {
		if status, _, _ := call(t, c, "POST", s.URL(), "", ""); status != want {
			t.Errorf("request %d: %d, want %d", i, status, want)
		}
	}
}

func TestARequestCanAskForABehaviour(t *testing.T) {
	s, c := listen(t)
	for query, want := range map[string]int{
		"do=status&code=418": 418, "do=slow&delay=1ms": 200, "do=nothing": 400, "do=status&code=x": 400,
		"do=slow&delay=x": 400, "do=status&code=42": 400,
	} {
		if status, _, _ := call(t, c, "POST", s.URL()+"?"+query, "", ""); status != want {
			t.Errorf("%s: %d, want %d", query, status, want)
		}
	}
	if status := hang(t, s, c, s.URL()+"?do=hang", "", "", 0); status != 0 {
		t.Errorf("do=hang: %d", status)
	}
}

func TestOtherProcessesTellItOverHTTP(t *testing.T) {
	s, c := listen(t)
	for _, step := range []struct {
		method, path, body string
		status             int
	}{
		{"PUT", "-/always", `{"do":"status","code":503}`, 204},
		{"PUT", "-/script", `[{"do":"slow","delay":"1ms"}]`, 204},
		{"POST", "hook", "x", 200},
		{"POST", "hook", "x", 503},
		{"PUT", "-/always", `{"do":"dance"}`, 400},
		{"PUT", "-/always", `{"does":"accept"}`, 400},
		{"PUT", "-/script", `{`, 400},
		{"GET", "-/nothing", "", 404},
	} {
		if status, text, _ := call(t, c, step.method, s.URL()+step.path, "", step.body); status != step.status {
			t.Errorf("%s %s %s: %d %s", step.method, step.path, step.body, status, text)
		}
	}
	_, text, _ := call(t, c, "GET", s.URL()+"-/counts", "", "")
	var got Counts
	if err := json.Unmarshal([]byte(text), &got); err != nil || got != (Counts{Requests: 2, Delivered: 1}) {
		t.Errorf("%s, %v", text, err)
	}
	if status, _, _ := call(t, c, "POST", s.URL()+"-/forget", "", ""); status != 204 || s.Counts() != (Counts{}) {
		t.Errorf("forget: %d", status)
	}
}

func TestCloseLetsGoOfWhatHangs(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Always(Behaviour{Do: Hang}); err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	ended := make(chan error, 1)
	go func() {
		resp, err := c.Post(s.URL(), "text/plain", bytes.NewReader(nil))
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	for s.Counts().Requests == 0 {
		runtime.Gosched() // the request is on its way
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended // an error, or an empty answer when the handler was faster
}

func TestAReceiverWithoutAServerServesToo(t *testing.T) {
	r := NewReceiver()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader("x")))
	if w.Code != 200 || r.Counts().Delivered != 1 {
		t.Errorf("%d, %+v", w.Code, r.Counts())
	}
}

func TestOnlyTheLatestRequestsAreKept(t *testing.T) {
	r := NewReceiver()
	for range keptRequests + 5 {
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
	}
	if n := len(r.Requests()); n != keptRequests || r.Counts().Requests != keptRequests+5 {
		t.Errorf("%d kept", n)
	}
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	s, _ := listen(t)
	if other, err := Listen(strings.Trim(strings.TrimPrefix(s.URL(), "http://"), "/")); err == nil {
		other.Close()
		t.Error("no error")
	}
}
