package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pictured are the pictures of the console in docs/pictures: pages, and who looks.
var pictured = []struct {
	name, path string
	look       look
}{
	{"overview", "", wide},
	{"queue", "queue/default/orders", wide},
	{"queue-phone", "queue/default/orders", phone},
	{"queue-dark", "queue/default/orders", look{width: 1280, height: 800, lang: "en", dark: true}},
	{"message", "message/", wide},
	{"dead-ja", "dead?queue=default/graves", wide.in("ja")},
}

// TestPagesFitTheirWindows looks at every page from the narrowest telephone to the widest screen.
func TestPagesFitTheirWindows(t *testing.T) {
	s := console(t, shop)
	s.fill()
	b := open(t)
	pages := s.everyPage()
	for _, width := range []int{320, 360, 768, 1280, 3840} {
		p := b.looks(t, look{width: width, height: 900, lang: "ja"}, s.page(""))
		for _, path := range pages {
			p.goes(s.page(path))
			p.ask("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil)
			p.fits(path)
		}
		p.tell("Page.navigate", fields{"url": "about:blank"})
	}
	if !*update {
		return
	}
	for _, one := range pictured {
		path := one.path
		for _, page := range pages {
			if path == "message/" && strings.HasPrefix(page, path) {
				path = page
			}
		}
		p := b.looks(t, one.look, s.page(path))
		p.until("document.querySelector('.state').hidden === false")
		if err := os.WriteFile(filepath.Join(root, "docs", "pictures", "console-"+one.name+".png"), p.picture(),
			0o644); err != nil {
			t.Error(err)
		}
		p.tell("Page.navigate", fields{"url": "about:blank"})
	}
}
