package console_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// evil is markup, for all that others name and write.
const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

func (r *rig) topic(name string, labels map[string]string) {
	r.t.Helper()
	n := queue.Name{Namespace: queue.DefaultNamespace, Name: name}
	if _, err := r.store.CreateTopic(r.t.Context(), n, labels); err != nil {
		r.t.Fatal(err)
	}
}

func TestTopicsAreShownAndPublishedTo(t *testing.T) {
	r := start(t, httpdoor.Config{})
	has(t, r.page("topics"), "There is no topic in this namespace.")
	r.topic("news", map[string]string{"team": evil})
	has(t, r.page("topics"), "topic/default/news", "hikyaku topic ls")
	has(t, r.page("topics?namespace=other"), "There is no topic", `value="other"`)
	publish := func() string {
		return r.want(200, r.request("POST", console.Base+"topic/default/news/publish", url.Values{"body": {"x"}}))
	}
	has(t, publish(), "the message was dropped", "There is no subscription")
	r.queue("all", queue.Definition{Topic: "news", Filter: "priority > 5"})
	r.queue("some", queue.Definition{Topic: "news"})
	page := publish()
	has(t, page, "was published.", "queue/default/some", "priority &gt; 5", "everything", "&lt;script&gt;")
	lacks(t, page, "<script>alert", "<img")
	s, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: "some"})
	if err != nil || s.Ready != 1 {
		t.Errorf("the subscription has %d messages: %v", s.Ready, err)
	}
	r.want(404, r.request("GET", console.Base+"topic/default/none", nil))
}

func TestATopicOfVeryManySubscriptionsShowsSome(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.topic("news", nil)
	for i := range 53 {
		r.queue(fmt.Sprintf("q%02d", i), queue.Definition{Topic: "news"})
	}
	page := r.page("topic/default/news")
	has(t, page, "And 3 more.", "queue/default/q49")
	lacks(t, page, "queue/default/q50")
}

func TestTopicsAreForThoseWhoAreGrantedThem(t *testing.T) {
	r := start(t, httpdoor.Config{}, access.User{Name: "reader", Secret: "reader-secret",
		Grants: []access.Grant{{Can: []string{"take"}, On: []string{"news"}}}})
	r.user = "reader"
	r.topic("news", nil)
	r.topic("jobs", nil)
	r.queue("private", queue.Definition{Topic: "news"})
	page := r.page("topics")
	has(t, page, "topic/default/news")
	lacks(t, page, "topic/default/jobs")
	lacks(t, r.page("topic/default/news"), "default/private")
	r.want(403, r.request("GET", console.Base+"topic/default/jobs", nil))
	r.want(403, r.request("POST", console.Base+"topic/default/news/publish", url.Values{"body": {"x"}}))

	only := start(t, httpdoor.Config{Console: "read"})
	only.topic("news", nil)
	lacks(t, only.page("topic/default/news"), "/publish")
	only.want(403, only.request("POST", console.Base+"topic/default/news/publish", url.Values{"body": {"x"}}))
}
