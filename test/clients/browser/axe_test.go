package browser_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// modules is where scripts/need-clients has put what looks at pages.
const modules = root + "/.cache/clients/browser/node/node_modules/"

// everyPage are the addresses of all pages after server.fill, a condition with a mistake and what is not there among
// them.
func (s *server) everyPage() []string {
	s.Helper()
	var got struct{ Messages []struct{ ID string } }
	s.call("GET", "queues/graves/messages", nil, &got)
	if len(got.Messages) == 0 {
		s.Fatal("there is no dead letter")
	}
	return []string{"", "queues", "queues?filter=no-such", "queue/default/orders",
		"queue/default/orders?where=priority+%3E+%3E+4", "queue/default/graves", "letter/default/orders/1",
		"letter/default/graves/1", "message/" + got.Messages[0].ID, "slow", "slow?queue=default/orders", "dead",
		"dead?queue=default/graves", "elsewhere"}
}

func TestAnAccessibilityCheckerFindsNothingOnAnyPage(t *testing.T) {
	axe, err := os.ReadFile(modules + "axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: scripts/need-clients node installs it", err)
	}
	s := console(t, shop)
	s.fill()
	b := open(t)
	for _, l := range []look{phone, wide} {
		for _, lang := range []string{"en", "ja"} {
			for _, dark := range []bool{false, true} {
				l.lang, l.dark = lang, dark
				t.Run(l.String(), func(t *testing.T) {
					p := b.looks(t, l, s.page(""))
					for _, path := range s.everyPage() {
						p.goes(s.page(path))
						p.ask("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil)
						p.ask(string(axe)+";0", nil)
						var found []string
						p.ask(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.flatMap(
							(v) => v.nodes.map((n) => v.id + ": " + n.target + ": " + n.failureSummary)))`, &found)
						for _, one := range found {
							t.Errorf("/%s: %s", path, one)
						}
					}
				})
			}
		}
	}
}

func TestTheScriptHasNoMistakeOfTypes(t *testing.T) {
	script, err := filepath.Abs(root + "/internal/console/web/app.js")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", modules+"typescript/bin/tsc", "--allowJs", "--checkJs",
		"--strict", "--noUncheckedIndexedAccess", "--noEmit", "--target", "es2024", "--module", "esnext", "--lib",
		"es2024,dom,dom.iterable", script).CombinedOutput()
	if err != nil {
		t.Error(fmt.Errorf("%w: scripts/need-clients node installs it\n%s", err, out))
	}
}
