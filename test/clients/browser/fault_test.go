package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestAPageComesBackByItselfWhenItsServerDoes(t *testing.T) {
	s := console(t, shop)
	s.fill()
	p := open(t).looks(t, phone, s.page("queue/default/orders"))
	const ready = "document.querySelector('.figures dd').textContent"
	p.until("document.querySelector('.state').textContent === 'live'")
	p.ask("window.same = true", nil)
	s.stop()
	p.until("document.querySelector('.state.off').textContent.startsWith('no connection')")
	p.until(ready + " === '2'") // what was there is still there
	p.fits("a page without its server")
	s.start()
	p.until("document.querySelector('.state:not(.off)').textContent === 'live'")
	s.call("POST", "queues/orders/messages", fields{"body": "x"}, nil)
	p.until(ready + " === '3' && window.same")

	// Its queue goes, and comes again.
	s.call("DELETE", "queues/orders", nil, nil)
	p.until("document.querySelector('#live .problem') !== null")
	s.call("PUT", "queues/orders", fields{}, nil)
	p.until(ready + " === '0' && window.same")
}

func TestAmongTenThousandQueuesOneIsFoundWhileTyping(t *testing.T) {
	s := console(t, "")
	for n := range 10000 {
		s.call("PUT", fmt.Sprintf("queues/queue-%05d", n), fields{}, nil)
	}
	p := open(t).looks(t, wide, s.page("queues"))
	p.ask("document.querySelector('[name=filter]').focus()", nil)
	for i, rows := range []int{200, 200, 19, 1} { // so many have so many sevens in a row, and 200 are shown
		typed := "7777"[:i+1]
		// From the key to the frame after the rows are there.
		p.ask(fmt.Sprintf(`window.took = 0, document.addEventListener("keydown", (e) => {
			const look = () => requestAnimationFrame(location.search !== "?filter=%s&sort=busy" ||
				document.querySelectorAll("tbody tr").length !== %d ? look :
				() => { window.took = performance.now() - e.timeStamp; });
			look();
		}, {once: true})`, typed, rows), nil)
		p.key("7", 0)
		p.until("window.took > 0")
		var took float64
		p.ask("window.took", &took)
		t.Logf("from the key to the rows of %s: %.0f ms", typed, took)
	}
}

func TestABodyOfSixtyMegabytesLeavesThePageSmall(t *testing.T) {
	s := console(t, shop)
	s.call("POST", "queues/orders/messages", make([]byte, 60<<20), nil)
	p := open(t).looks(t, phone, s.page("letter/default/orders/1"))
	var size int
	if p.ask("document.documentElement.outerHTML.length", &size); size > 64<<10 {
		t.Errorf("the page has %d letters", size)
	}
	if got := p.text("main"); !strings.Contains(got, "60.0 MiB") {
		t.Errorf("it does not say how large the body is:\n%.500s", got)
	}
	p.fits("a body of zeros")
}
