package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// hand does something on a page, with keys alone or with a pointer.
type hand struct {
	*tab
	keys bool
}

// reach leads the focus to an element.
func (h hand) reach(selector string) {
	h.Helper()
	if !h.keys {
		h.click(selector)
		return
	}
	for range 120 {
		var there bool
		h.ask(fmt.Sprintf("document.activeElement.matches(%q)", selector), &there)
		if there {
			return
		}
		h.key("Tab", 0)
	}
	h.Fatalf("Tab does not reach %s", selector)
}

// press presses a link, a button or what opens something.
func (h hand) press(selector string) {
	h.Helper()
	h.reach(selector)
	if h.keys {
		h.key("Enter", 0)
	}
}

// follow presses what leads to another page, and waits for that.
func (h hand) follow(selector string) {
	h.Helper()
	h.ask("window.left = true", nil)
	h.press(selector)
	h.comes("!window.left && document.readyState === 'complete'")
}

// fill writes a text in place of what stands in a field.
func (h hand) fill(selector, text string) {
	h.Helper()
	h.reach(selector)
	h.key("a", control)
	h.write(text)
}

const shop = `queues:
  orders: { max_attempts: 3, dead_letter: graves, lease: 1m }
  graves: {}
`

// tasks are what people come for, one after the other.
var tasks = []struct {
	name string
	does func(*server, hand)
}{
	{"find a queue", func(_ *server, h hand) {
		if h.keys {
			h.key("/", 0)
		}
		h.fill("[data-search]", "orders")
		h.ask("window.left = true", nil)
		h.key("Enter", 0)
		h.comes("!window.left && document.querySelector('h1').textContent === 'default/orders'")
	}},
	{"why it was slow", func(_ *server, h hand) {
		h.follow("main a[href*='slow?queue=']")
		h.follow("tbody tr:first-child a")
		h.comes("document.querySelectorAll('tr.slowest').length === 1")
		if got := h.text("tr.slowest"); !strings.Contains(got, "default/orders") {
			h.Errorf("the slowest hop: %s", got)
		}
	}},
	{"why it is dead", func(s *server, h hand) {
		if h.keys {
			h.ask("window.left = true", nil)
			h.key("g", 0)
			h.key("d", 0)
			h.comes("!window.left && document.readyState === 'complete'")
		} else {
			h.follow("[data-key=d]")
		}
		h.follow("tbody a[href$='/default/orders']")
		h.follow("#live a[href$='/default/graves']")
		h.follow("#live a[href*='dead?queue=']")
		if got := h.text("tbody tr"); !strings.Contains(got, "card refused") {
			h.Errorf("the reasons: %s", got)
		}
		h.follow("tbody a")
		if got := h.text(".warning"); !strings.Contains(got, "card refused") {
			h.Errorf("the letter: %s", got)
		}
		h.goes(s.page("dead?queue=default/graves"))
		h.follow("form.acts button") // which shows what will be done
		h.follow("form.acts button")
		if got := h.text(".said"); !strings.Contains(got, "1") {
			h.Errorf("it said %s", got)
		}
		h.goes(s.page("queue/default/orders"))
		h.comes("document.querySelector('.figures dd').textContent === '3'")
	}},
	{"a condition while typing", func(_ *server, h hand) {
		const rows = "document.querySelectorAll(\"#live a[href*='/letter/']\").length"
		h.fill("[name=where]", "priority > 4")
		h.comes(rows + " === 2")
		h.fill("[name=where]", "priority > > 4")
		h.comes("document.querySelector('#live pre.marked') !== null")
		lines := strings.Split(h.text("pre.marked"), "\n")
		at := -1
		for i, line := range lines {
			if strings.TrimSpace(line) == "^" && i > 0 {
				at = len(line) - 1
				if lines[i-1][at] != '>' {
					h.Errorf("the mark is under %q of %q", lines[i-1][at], lines[i-1])
				}
			}
		}
		if at < 0 {
			h.Errorf("no place is marked in %q", lines)
		}
		h.fill("[name=where]", "priority = 9")
		h.comes(rows + " === 1")
	}},
	{"put", func(s *server, h hand) {
		h.goes(s.page("queue/default/orders"))
		h.press(".acts details:nth-of-type(1) summary")
		h.fill("[name=body]", `{"priority": 7}`)
		h.fill("[name=key]", "k")
		h.follow("form[action$='/put'] button")
		h.comes("document.querySelector('.said')")
		h.comes("document.querySelector('.figures dd').textContent === '4'")
	}},
	{"language", func(s *server, h hand) {
		var before string
		h.ask("document.documentElement.lang", &before)
		h.goes(s.page("queue/default/orders?where=priority+%3D+9"))
		h.follow(".language button")
		h.comes("document.documentElement.lang !== '" + before + "'")
		h.comes("document.querySelector('[name=where]').value === 'priority = 9'")
		h.follow(".language button")
		h.comes("document.documentElement.lang === '" + before + "'")
	}},
	{"live", func(s *server, h hand) {
		h.goes(s.page("queues"))
		h.until("document.querySelector('.state').hidden === false")
		h.ask("window.same = true", nil)
		for n := 5; n < 8; n++ {
			s.call("POST", "queues/orders/messages", fields{"body": "x"}, nil)
			h.until(fmt.Sprintf("[...document.querySelectorAll('tbody tr')].some((r) => r.cells[0].textContent === "+
				"'default/orders' && r.cells[1].textContent === '%d')", n))
		}
		h.until("window.same")
	}},
	{"purge", func(s *server, h hand) {
		purge := func(name string) {
			h.goes(s.page("queue/default/orders"))
			const form = "form[action$='/purge'] "
			h.press("details:has(" + form + ") summary")
			h.fill(form+"[name=name]", name)
			h.follow(form + "button")
		}
		purge("order")
		h.comes("document.querySelector('.problem')")
		purge("orders")
		h.comes("document.querySelector('.said')")
		h.comes("document.querySelector('.figures dd').textContent === '0'")
	}},
}

func TestPeopleDoWhatTheyComeFor(t *testing.T) {
	for _, l := range []look{phone, wide, phone.in("ja"), wide.in("ja")} {
		for by, keys := range map[string]bool{"keys": true, "pointer": false} {
			t.Run(l.String()+" by "+by, func(t *testing.T) {
				s := console(t, shop)
				s.fill()
				h := hand{open(t).looks(t, l, s.page("")), keys}
				for _, task := range tasks {
					if !t.Run(task.name, func(t *testing.T) { task.does(s, h.of(t)) }) {
						return
					}
				}
			})
		}
	}
}

// of is the same hand for a part of a test.
func (h hand) of(t *testing.T) hand {
	p := *h.tab
	p.T = t
	return hand{&p, h.keys}
}

// fill puts what the pages have to show: waiting orders, one that took a while, and one that is a dead letter.
func (s *server) fill() {
	s.Helper()
	for _, n := range []int{1, 5, 9, 3} {
		s.call("POST", "queues/orders/messages", fields{"body": "x", "attributes": fields{"priority": n}}, nil)
	}
	s.settle("orders", "priority = 5", "dead", "card refused")
	s.settle("orders", "priority = 3", "done", "")
}

func TestEverythingIsReadAndDoneWithoutScripts(t *testing.T) {
	s := console(t, shop)
	s.fill()
	l := wide
	l.still = true
	p := open(t).looks(t, l, s.page(""))
	for path, wanted := range map[string]string{"": "default/orders", "queues?filter=ord": "default/orders",
		"queue/default/orders": "priority > 5", "queue/default/orders?where=priority+%3D+9": "sequence",
		"letter/default/orders/1": "priority", "letter/default/graves/1": "card refused",
		"slow?queue=default/orders": "ended", "dead?queue=default/graves": "card refused"} {
		p.goes(s.page(path))
		var all string
		if p.ask("document.body.innerText + document.querySelector('[name=where]')?.placeholder", &all); !strings.Contains(
			all, wanted) {
			t.Errorf("%s lacks %q:\n%s", path, wanted, all)
		}
	}
	h := hand{p, false}
	h.goes(s.page("dead?queue=default/graves"))
	h.follow("form.acts button") // which shows what will be done
	h.follow("form.acts button")
	h.goes(s.page("queue/default/orders"))
	h.comes("document.querySelector('.figures dd').textContent === '3'")
	var ran bool
	if p.ask("document.querySelector('[aria-current]') !== null", &ran); ran {
		t.Error("a script ran")
	}
}
