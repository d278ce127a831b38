package console_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestManyOpenPagesAreMadeOnceForEachUser(t *testing.T) {
	grant := func(on string) []access.Grant { return []access.Grant{{Can: []string{"take"}, On: []string{on}}} }
	var looks atomic.Int32
	r := startOver(t, works{each: time.Hour, asked: func(r *http.Request) {
		if r.URL.Path == "/-/top" {
			looks.Add(1)
		}
	}}, httpdoor.Config{},
		access.User{Name: "one", Secret: "one-secret", Grants: grant("news")},
		access.User{Name: "other", Secret: "other-secret", Grants: grant("jobs")})
	r.queue("news", queue.Definition{})
	r.queue("jobs", queue.Definition{})
	var opened sync.WaitGroup
	pages := make([]string, 40)
	for i := range pages {
		user := *r
		user.user = [2]string{"one", "other"}[i%2]
		next := user.events(t.Context(), "queues", "none")
		opened.Go(func() { _, pages[i], _ = next() })
	}
	opened.Wait()
	for i, page := range pages {
		his, others := "default/news", "default/jobs"
		if i%2 == 1 {
			his, others = others, his
		}
		has(t, page, his)
		lacks(t, page, others)
	}
	if n := looks.Load(); n != 2 {
		t.Errorf("the door was asked %d times for 40 pages of two users", n)
	}
}

func TestAnOpenPageDoesNotFallBackBehindOneThatWasLoaded(t *testing.T) {
	r := startOver(t, works{each: time.Hour}, httpdoor.Config{})
	r.queue("news", queue.Definition{}, "one")
	if _, page, _ := r.events(t.Context(), "queue/default/news", "none")(); page == "" {
		t.Fatal("nothing came")
	}
	r.want(200, r.request("POST", console.Base+"queue/default/news/put", url.Values{"body": {"two"}}))
	_, page, _ := r.events(t.Context(), "queue/default/news", "none")()
	has(t, page, "/letter/default/news/2")
}

// TestAPageThatNobodyMadeIsMadeByWhoWaits: the first browser goes away while its page is made.
func TestAPageThatNobodyMadeIsMadeByWhoWaits(t *testing.T) {
	var first sync.Once
	reached, gone := make(chan struct{}), make(chan struct{})
	r := startOver(t, works{each: time.Hour, asked: func(r *http.Request) {
		if r.URL.Path == "/-/top" {
			first.Do(func() {
				close(reached)
				<-r.Context().Done()
				close(gone)
			})
		}
	}}, httpdoor.Config{})
	r.queue("news", queue.Definition{})
	leaving := &http.Client{Transport: &http.Transport{}}
	req := r.request("GET", "/-/console/queues?live=none", nil, "Accept", "text/event-stream")
	ended := make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		if answer, err := leaving.Do(req.WithContext(ctx)); err == nil {
			answer.Body.Close()
		}
	}()
	<-reached
	waits := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { leave() }})
	next := r.events(waits, "queues", "none")
	<-gone
	<-ended
	if _, page, _ := next(); page == "" {
		t.Error("nothing came")
	}
	leaving.CloseIdleConnections()
}
