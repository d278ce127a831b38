package console_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// remembering is a door that tells of a past: one point more each time that news is changed.
type remembering struct{ news atomic.Int64 }

func (d *remembering) past() httpdoor.Past {
	line := func(values ...float32) httpdoor.Points {
		p := make(httpdoor.Points, 180)
		for i := range p {
			p[i] = float32(math.NaN())
		}
		copy(p[180-len(values):], values)
		return p
	}
	no := float32(math.NaN())
	return httpdoor.Past{Time: time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC), Step: 5, Rows: []httpdoor.PastRow{{
		Name: "default/orders", Values: map[string]httpdoor.Points{"ready": line(4, no, 2, float32(d.news.Load())),
			"oldest_seconds": line(1, no, 2, 3), "in": line(no, no, 10, 20), "out": line(no, no, 5, 5)}}}}
}

func (d *remembering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	switch r.URL.Path {
	case "/-/top":
		answer = httpdoor.Top{Count: 1, Queues: []httpdoor.TopQueue{{Name: "default/orders"}}}
	case "/-/past":
		answer = d.past()
	default:
		answer = struct{}{}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// recalled is a console of that door.
func recalled(t *testing.T) (*rig, *remembering) {
	d := &remembering{}
	d.news.Store(2)
	server := httptest.NewServer(console.New(console.Config{Door: d, Each: time.Millisecond}))
	t.Cleanup(server.Close)
	return &rig{t: t, url: server.URL, http: server.Client()}, d
}

func TestPlotsAreDrawnAndBroughtUpToDateAsCells(t *testing.T) {
	r, d := recalled(t)
	page := r.page("")
	has(t, page, "now 2, at least 2, at most 4", `aria-labelledby="title-rates told-rates"`, ">20/s</tspan>", ">5 s</tspan>",
		"M390.3 28h0M394.1 64L396 64", // 4, nothing, 2 and 2 of 5
		`aria-label="ready: now 2, at least 2, at most 4"`, `class="line b"`, "past.csv?of=rates")
	next := r.events(t.Context(), "", shapeOf(page))
	if _, html, _ := next(); html != "" {
		t.Fatalf("at first came %q", html)
	}
	d.news.Store(4)
	for {
		cells, html, _ := next()
		if html != "" {
			t.Fatalf("all of it came: %s", html)
		}
		all := ""
		for _, value := range cells {
			all += value + "\n"
		}
		if strings.Contains(all, "now 4, at least 2, at most 4") {
			has(t, all, "M390.3 28h0M394.1 64L396 28")
			break
		}
	}
}

func TestPlotsCanBeSaved(t *testing.T) {
	r, _ := recalled(t)
	save := func(path string) string { return r.want(200, r.request("GET", console.Base+path, nil)) }
	rows, err := csv.NewReader(strings.NewReader(save("queue/default/orders/past.csv?of=rates"))).ReadAll()
	if err != nil || len(rows) != 181 || strings.Join(rows[0], " ") != "time in out" ||
		strings.Join(rows[179], " ") != "2026-11-29T00:59:55Z 10 5" ||
		strings.Join(rows[178], " ") != "2026-11-29T00:59:50Z  " {
		t.Errorf("%v %v", err, rows)
	}
	has(t, save("past.csv"), "time,ready,in,out,oldest_seconds\n")
	var p httpdoor.Past
	if err := json.Unmarshal([]byte(save("past.json?of=oldest")), &p); err != nil || len(p.Rows[0].Values) != 1 ||
		p.Rows[0].Values["oldest_seconds"][179] != 3 {
		t.Errorf("%v %+v", err, p)
	}
	svg := save("queue/default/orders/past.svg?of=rates")
	has(t, svg, "default/orders: In and out each second", "stroke-dasharray")
	for in := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := in.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	r.want(404, r.request("GET", console.Base+"past.svg?of=weight", nil))
}

func TestThePastOnPagesIsThatWhichTheUserMaySee(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := start(t, httpdoor.Config{},
		access.User{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
		access.User{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")})
	r.queue("news", queue.Definition{}, "one")
	r.queue("jobs", queue.Definition{}, "one")
	r.user = "all"
	has(t, r.page(""), "The last 15 minutes", "past.svg")
	r.want(200, r.request("GET", console.Base+"past.csv", nil))
	r.user = "reader"
	page := r.page("")
	lacks(t, page, "past.svg")
	has(t, page, `class="spark"`)
	has(t, r.page("queue/default/news"), "past.svg")
	r.want(200, r.request("GET", console.Base+"queue/default/news/past.svg", nil))
	r.want(403, r.request("GET", console.Base+"queue/default/jobs/past.svg", nil))
	r.want(403, r.request("GET", console.Base+"past.csv", nil))
}
