package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// evil is a text that does what it can where it is taken for more than text.
const evil = `</pre></script><script>window.forbidden.push("ran")</script><img src=x onerror=forbidden.push("ran")>` +
	`" onfocus="forbidden.push('ran')" autofocus x="'-alert(1)-'` + "\u202etxt.exe\u2066\u0000" + `{{.}}<!--`

// endless is a text that no line can be broken in.
var endless = strings.Repeat("W", 1<<20)

func TestWhatOthersWriteIsTextInTheBrowser(t *testing.T) {
	s := console(t, fmt.Sprintf("queues:\n  %s: { max_attempts: 1, dead_letter: graves, labels: { x: %q } }\n"+
		"  graves: {}\n", strings.Repeat("q", 100), `<img src=x onerror=forbidden.push("ran")>`+"\u202eevil"+strings.Repeat("w", 100)))
	queue := strings.Repeat("q", 100)
	put := func(m fields) { s.call("POST", "queues/"+queue+"/messages", m, nil) }
	put(fields{"body": evil, "key": "k" + strings.ReplaceAll(evil, "\u0000", "")[:180], "attributes": fields{"n": 1,
		"<script>forbidden.push(1)</script>": evil, strings.Repeat("a", 200): strings.Repeat("b", 5000)}})
	put(fields{"body": endless, "attributes": fields{"n": 2}})
	put(fields{"body": `{"lone": "\ud800", "` + endless[:60000] + `": "` + "\u202e" + `"}`, "attributes": fields{"n": 3}})
	s.call("POST", "queues/"+queue+"/messages", []byte("\xed\xa0\x80\xff"+endless), nil)
	put(fields{"body": "x", "attributes": fields{"n": 5}})
	s.settle(queue, "n = 5", "dead", evil+endless[:4000])
	put(fields{"body": "x", "attributes": fields{"n": 6}})
	s.settle(queue, "n = 6", "dead", endless[:4000])
	var dead struct{ Messages []struct{ ID string } }
	s.call("GET", "queues/graves/messages", nil, &dead)

	name := "queue/default/" + queue
	paths := []string{"", "queues", name, "queue/default/graves", "dead", "dead?queue=default/graves",
		"slow?queue=default/" + queue, "message/" + dead.Messages[0].ID, "letter/default/graves/1",
		"letter/default/graves/2",
		"queues?filter=" + escaped(evil), name + "?where=" + escaped(evil), "slow?sink=" + escaped(evil),
		"find?for=" + escaped(evil), name + "?where=" + escaped(strings.Repeat("w", 5000)), "message/" + escaped(evil)}
	for n := range 4 {
		paths = append(paths, fmt.Sprintf("letter/default/%s/%d", queue, n+1))
	}
	p := open(t).looks(t, phone, s.page(""))
	for _, path := range paths {
		p.goes(s.page(path))
		p.ask("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil)
		path = path[:min(len(path), 60)]
		var forbidden []string
		if p.ask("window.forbidden", &forbidden); len(forbidden) > 0 {
			t.Errorf("/%s: %q", path, forbidden)
		}
		p.fits(path)
	}
	// The script puts it on the page, too: as the live part, and as cells.
	p.goes(s.page(name))
	put(fields{"body": evil, "key": "new<img src=x onerror=alert(1)>"})
	p.until("[...document.querySelectorAll('#live td')].some((c) => c.textContent.startsWith('new<img'))")
	p.until("window.forbidden.length === 0")
	p.fits("a live page")
}

// fits finds whether the page is as wide as its window, and what is not, if it is wider. A telephone makes its window
// wider than it is, so that is not asked for.
func (p *tab) fits(path string) {
	p.Helper()
	var wider []string
	p.ask(fmt.Sprintf(`document.scrollingElement.scrollWidth <= %[1]d ? [] : [document.scrollingElement.scrollWidth,
		...[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %[1]d &&
		!e.parentElement.closest(".wide")).map((e) => e.outerHTML.slice(0, 100))].map(String)`, p.width), &wider)
	if len(wider) > 0 {
		p.Errorf("/%s is wider than the window: %q", path, wider)
	}
}

// escaped is a text in a query or a path.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func TestAPageOfAnotherSiteDoesAndReadsNothing(t *testing.T) {
	s := console(t, shop)
	s.fill()
	port := s.address[strings.LastIndexByte(s.address, ':'):]
	// The other site is another port, then another name that leads here.
	other := listen(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>other</title><body>"))
	})})
	b := open(t, "--host-resolver-rules=MAP evil.example 127.0.0.1")
	_, its, _ := strings.Cut(other, ":")
	for _, from := range []string{"http://" + other + "/", "http://localhost:" + its + "/"} {
		p := b.looks(t, wide, from)
		for _, host := range []string{"127.0.0.1", "localhost", "evil.example"} {
			to := "http://" + host + port + "/-/console/"
			purge := to + "queue/default/orders/purge"
			for _, how := range []string{`{}`, `{credentials: "include"}`, `{mode: "no-cors", method: "POST",
				body: new URLSearchParams({name: "orders"}), credentials: "include"}`} {
				var got string
				p.ask(fmt.Sprintf(`fetch(%q, %s).then((r) => r.text()).catch(() => "")`, purge, how), &got)
				if got != "" {
					t.Errorf("%s read from %s with %s: %s", from, to, how, got)
				}
			}
			var stream string
			p.ask(fmt.Sprintf(`new Promise((done) => { const s = new EventSource(%q, {withCredentials: true});
				s.onopen = s.onmessage = () => done("open"); s.onerror = () => { s.close(); done("refused"); }; })`,
				to+"?live="), &stream)
			if stream != "refused" {
				t.Errorf("%s follows %s", from, to)
			}
			p.ask(fmt.Sprintf(`new Promise((done) => { const f = document.createElement("iframe"); f.src = %q;
				f.onload = () => done(); document.body.append(f); }).then(() => 0)`, to), nil)
			if p.framed() > 0 && host != "evil.example" { // there the refusal is in the frame
				t.Errorf("%s shows %s in a frame", from, to)
			}
			p.ask(fmt.Sprintf(`document.body.innerHTML = '<form method=post action=%q><input name=name value=orders>'`,
				purge), nil)
			p.ask("window.left = true, document.forms[0].submit()", nil)
			p.comes("!window.left && document.readyState === 'complete'")
			if got := p.text("body"); !strings.Contains(got, "urn:hikyaku:cross-origin") {
				t.Errorf("a form of %s at %s was answered %s", from, purge, got)
			}
			p.goes(from)
		}
	}
	// A name of another site that has been turned to this machine is that site's own: its origin may read what it gets.
	p := b.looks(t, wide, "http://evil.example"+port+"/-/console/")
	if got := p.text("body"); !strings.Contains(got, "not this machine") {
		t.Errorf("a name that was rebound got %s", got)
	}
	var own string
	p.ask(`fetch("/-/console/queue/default/orders/purge", {method: "POST", body: new URLSearchParams({name: "orders"})
		}).then((r) => r.text())`, &own)
	if !strings.Contains(own, "not this machine") {
		t.Errorf("an act for a name that was rebound got %s", own)
	}
	var left struct{ Ready int }
	if s.call("GET", "queues/orders", nil, &left); left.Ready != 2 {
		t.Errorf("of 2 messages %d are left", left.Ready)
	}
}

// framed counts the frames of the page in which a page of the console is.
func (p *tab) framed() (n int) {
	p.Helper()
	var tree struct {
		FrameTree struct {
			ChildFrames []struct {
				Frame struct{ URL, UnreachableURL string }
			}
		}
	}
	if err := p.browser.do(p.session, "Page.getFrameTree", fields{}, &tree); err != nil {
		p.Fatal(err)
	}
	for _, f := range tree.FrameTree.ChildFrames {
		if f.Frame.UnreachableURL == "" && strings.Contains(f.Frame.URL, "console") {
			n++
		}
	}
	return n
}
