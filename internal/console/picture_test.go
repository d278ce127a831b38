package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/picture"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// shop is a picture with a thing of each kind, whose names are of others.
func shop() *picture.Picture {
	return &picture.Picture{
		Things: []picture.Thing{{Kind: "topic", Name: "news"}, {Kind: "queue", Name: "orders"},
			{Kind: "queue", Name: "orders_dead"}, {Kind: "source", Name: "in", Note: "queue"},
			{Kind: "sink", Name: "hook", Note: "webhook <b>"}, {Kind: "door", Name: "clients that put", Note: "http"}},
		Ways: []picture.Way{{From: 5, To: 1}, {From: 1, To: 3, Label: "a < '<script>alert(1)</script>'"},
			{From: 3, To: 4}, {From: 1, To: 2, Dead: true}, {From: 0, To: 1}},
	}
}

// drawn is the picture of a page.
func drawn(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "<svg ")
	svg, _, _ := strings.Cut(rest, "</svg>")
	if !ok {
		t.Fatalf("no picture is in\n%s", page)
	}
	return svg
}

func shopWorks() works {
	trace := journey.New(journey.Options{})
	return works{picture: shop, trace: trace, components: func() []pipeline.NodeStats {
		return []pipeline.NodeStats{{Name: "in", Kind: pipeline.KindSource, In: 7, InFlight: 3},
			{Name: "hook", Kind: pipeline.KindSink, In: 7, Rejected: 2}}
	}}
}

func TestTheOverviewShowsThePipelinesWithWhatGoesOn(t *testing.T) {
	r := startOver(t, shopWorks(), httpdoor.Config{})
	r.queue("orders", queue.Definition{}, "one", "two")
	page := r.page("")
	svg := drawn(t, page)
	has(t, svg, ">2 wait · 0/s in · 0/s out<", ">0/s · 3 in flight · errors 0<", "errors 2<", ">webhook &lt;b&gt;<",
		`href="/-/console/queue/default/orders"`, `href="/-/console/component/hook"`, `href="/-/console/topic/default/news"`,
		`aria-label="Queue orders: 2 wait`, `class="thing queue"`, `class="way dead"`, "connections 0 ",
		"&lt;script&gt;alert(1)")
	lacks(t, svg, "<script", "orders_dead\"", " moving") // the graveyard is not there yet, so that it has no page
	has(t, page, "goroutines", "files of the journal", "free on the disk")
	r.lang = "ja"
	has(t, drawn(t, r.page("")), ">2 件待ち · 入 0/s · 出 0/s<")
}

func TestThePictureChangesByItsCells(t *testing.T) {
	r := startOver(t, shopWorks(), httpdoor.Config{})
	r.queue("orders", queue.Definition{}, "one")
	page := r.page("")
	next := r.events(t.Context(), "", shapeOf(page))
	next()
	n := queue.Name{Namespace: queue.DefaultNamespace, Name: "orders"}
	if _, err := r.store.Put(t.Context(), n, messageOf("two")); err != nil {
		t.Fatal(err)
	}
	var waits, moving bool
	for !waits || !moving {
		cells, html, _ := next()
		if html != "" {
			t.Fatalf("all of it came: %s", html)
		}
		for _, value := range cells {
			waits = waits || strings.HasPrefix(value, "2 wait · ")
			moving = moving || value == "way moving"
		}
	}
}

func TestWhatIsSlowestIsMarkedAndSaid(t *testing.T) {
	runs := shopWorks()
	r := startOver(t, runs, httpdoor.Config{})
	r.queue("orders_dead", queue.Definition{}, "waits longest, as the dead may")
	r.queue("orders", queue.Definition{}, "one")
	for range 100 {
		n := journey.Note{Place: journey.Place{Name: "hook"}, Kind: journey.Answered, ID: message.NewID()}
		runs.trace.End(&n, 1500*time.Millisecond)
	}
	next := r.events(t.Context(), "", shapeOf(r.page("")))
	for marked := false; !marked; { // when its message has waited for long
		cells, html, _ := next()
		if html != "" {
			t.Fatalf("all of it came: %s", html)
		}
		for _, value := range cells {
			marked = marked || value == "thing queue slow"
		}
	}
	page := r.page("")
	svg := drawn(t, page)
	has(t, svg, `class="thing sink slow"`, `class="thing queue slow"`, `errors 2. Slowest"`)
	if strings.Count(svg, `slow"`) != 2 {
		t.Errorf("others are marked, too: %s", svg)
	}
	has(t, page, ">hook</span></a>, p99 <", ">default/orders</span></a>, oldest <")
}

func TestWhoMayNotSeeEverythingSeesHisQueuesInThePicture(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := startOver(t, shopWorks(), httpdoor.Config{},
		access.User{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
		access.User{Name: "reader", Secret: "reader-secret", Grants: grant("orders*", "take")},
		access.User{Name: "other", Secret: "other-secret", Grants: grant("jobs", "take")})
	for _, name := range []string{"orders", "orders_dead", "jobs"} {
		r.queue(name, queue.Definition{}, "one")
	}
	r.user = "all"
	page := r.page("")
	has(t, drawn(t, page), ">hook<", ">in<", ">clients that put<", ">news<")
	has(t, page, "goroutines")
	r.user = "reader"
	page = r.page("")
	has(t, drawn(t, page), ">orders<", ">orders_dead<", "way dead")
	lacks(t, page, ">hook<", ">clients that put<", ">news<", "alert(1)", "goroutines")
	r.user = "other"
	lacks(t, r.page(""), "wide picture", "orders", "goroutines")
}

func TestAPictureThatIsTooLargeIsNotDrawn(t *testing.T) {
	large := &picture.Picture{}
	for i := range 201 {
		large.Things = append(large.Things, picture.Thing{Kind: "queue", Name: fmt.Sprint("q", i)})
	}
	r := startOver(t, works{picture: func() *picture.Picture { return large }}, httpdoor.Config{})
	page := r.page("")
	has(t, page, "more than can be drawn", "hikyaku graph")
	lacks(t, page, "wide picture")
	large.Things = large.Things[:200]
	has(t, drawn(t, r.page("")), ">q199<")
}
