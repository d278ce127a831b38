package push_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestAnswersFindTheirRequests(t *testing.T) {
	config := goServer(t, 250, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("apns-id", r.Header.Get("apns-id"))
		if strings.HasSuffix(r.URL.Path, "7") {
			w.WriteHeader(http.StatusGone)
		}
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("authorization"), body)
	})
	c := newClient(t, config)
	var wg sync.WaitGroup
	for i := range 5000 {
		wg.Add(1)
		path, id, body := fmt.Sprint("/3/device/", i), fmt.Sprint("id", i), fmt.Sprint("body", i)
		c.Send(&push.Request{Method: "POST", Path: path, Header: []push.Field{
			{Name: "authorization", Value: "bearer x", Sensitive: true}, {Name: "apns-topic", Value: "org.example"},
			{Name: "apns-id", Value: id},
		}, Body: []byte(body)}, time.Now().Add(5*time.Minute), func(r push.Result) {
			defer wg.Done()
			if r.Err != nil {
				t.Errorf("%s: %v", path, r.Err)
				return
			}
			want := 200
			if strings.HasSuffix(path, "7") {
				want = 410
			}
			if got := string(r.Response.Body); r.Response.Status != want || got != "POST "+path+" bearer x "+body ||
				r.Response.Get("apns-id") != id {
				t.Errorf("%s: %d %q %q", path, r.Response.Status, got, r.Response.Get("apns-id"))
			}
			if r.Sent.IsZero() {
				t.Errorf("%s: answered but never sent", path)
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Dials != 1 || s.Responses != 5000 || s.Waiting != 0 || s.StreamsUsed != 0 {
		t.Errorf("%+v", s)
	}
	if r, err := c.Do(context.Background(), &push.Request{Method: "GET", Path: "/"}); err != nil || r.Status != 200 {
		t.Error(r, err)
	}
}

func TestOneSlowRequestHoldsUpNobody(t *testing.T) {
	release := make(chan struct{})
	config := goServer(t, 250, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-release
		}
	})
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/slow", 5*time.Minute)
	for i := range 1000 {
		got.send(c, fmt.Sprint("/", i), 5*time.Minute)
	}
	for i := range 1000 {
		got.ok(fmt.Sprint("/", i), 200)
	}
	if got.ended("/slow") {
		t.Error("the slow one was fast")
	}
	close(release)
	got.ok("/slow", 200)
	if s := c.Stats(); s.Dials != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAServerThatShutsDownLosesNoPush(t *testing.T) {
	// Go's server says goodbye in two steps, and answers what it has.
	var goodbye sync.Once
	config := goServer(t, 50, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/250" {
			goodbye.Do(func() { w.Header().Set("Connection", "close") }) // how a handler asks for a goodbye
		}
	})
	c, got := newClient(t, config), newResults(t)
	for i := range 1000 {
		got.send(c, fmt.Sprint("/", i), 5*time.Minute)
	}
	for i := range 1000 {
		got.ok(fmt.Sprint("/", i), 200)
	}
	if s := c.Stats(); s.GoAways == 0 || s.Unknown != 0 {
		t.Errorf("%+v", s)
	}
}
