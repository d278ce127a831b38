package docs

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

// The ports that documents show.
const (
	doorPort    = "7700"
	webhookPort = "7780"
	pubsubPort  = "8085"
	sqsPort     = "9324"
	lambdaPort  = "9001"
)

// farEnd is a sandbox as the documents start it: where it listens and, if it can be told to behave otherwise, where.
type farEnd struct{ port, control string }

var farEnds = map[string]farEnd{
	"webhook": {webhookPort, ""},
	"apns":    {"2197", "7781"},
	"fcm":     {"2198", "7782"},
	"webpush": {"2199", "7783"},
	"hms":     {"2200", "7784"},
	"wns":     {"2201", "7785"},
}

// ports are free ones that stand in for those of the documents, which are their keys.
type ports map[string]string

// shownPorts are all that documents may show.
func shownPorts() []string {
	shown := []string{doorPort, pubsubPort, sqsPort, lambdaPort}
	for _, e := range farEnds {
		shown = append(shown, e.port)
		if e.control != "" {
			shown = append(shown, e.control)
		}
	}
	return shown
}

func freePorts(t *testing.T) ports {
	t.Helper()
	p, shown := ports{}, shownPorts()
	found, err := freeport.Find(len(shown))
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range found {
		if _, p[shown[i]], err = net.SplitHostPort(address); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// pairs are the documents' addresses and those that stand in for them.
func (p ports) pairs() (shown, free []string) {
	for from, to := range p {
		shown, free = append(shown, "127.0.0.1:"+from), append(free, "127.0.0.1:"+to)
	}
	return shown, free
}

// replaced puts to[i] in the place of each from[i].
func replaced(text string, from, to []string) string {
	var pairs []string
	for i := range from {
		pairs = append(pairs, from[i], to[i])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// in puts the free ports into a document's text.
func (p ports) in(text string) string {
	shown, free := p.pairs()
	return replaced(text, shown, free)
}

// out puts the documents' ports back.
func (p ports) out(text string) string {
	shown, free := p.pairs()
	return replaced(text, free, shown)
}

// prelude makes a shell that ends at the first command that fails, and ends the servers it started in any case.
const prelude = `set -eo pipefail
servers=()
await() { # PORT NAME LOG: until the last background process listens, for as long as it lives
	until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do
		kill -0 "$!" 2>/dev/null || { echo "$2 ended:"; cat "$3"; exit 1; }
	done
	servers+=("$!")
}
finish() {
	for pid in "${servers[@]}"; do kill "$pid"; wait "$pid"; done
}
detached=()
trap 'for file in "${detached[@]}"; do hikyaku stop -c "$file" >/dev/null 2>&1 || true; done' EXIT
make() {
	command make -C "$HIKYAKU_ROOT" -n "$@" >/dev/null
	if [ "$1" = demo ]; then hikyaku demo; fi
}
`

// mark separates the outputs of blocks.
const mark = "\x1e"

// builtIn is the configuration of a serve without one, at another address.
const builtIn = "built-in.yaml"

var (
	sandbox  = regexp.MustCompile(`^hikyaku sandbox (webhook|apns|fcm|hms|webpush|wns)( .*)?\s*&$`)
	detaches = regexp.MustCompile(`^hikyaku serve( -c (\S+))? --detach$`)
	stops    = regexp.MustCompile(`^hikyaku stop( -c (\S+))?$`)
)

// script makes one shell script of the blocks that are run.
func script(path string, blocks []block, p ports) (string, error) {
	var s strings.Builder
	s.WriteString(prelude)
	running := map[string]*pageError{} // servers by their configuration, and what to say of one that stays
	for i, b := range blocks {
		fmt.Fprintf(&s, "printf '%s%d\\n'\n", mark, i)
		for k, line := range b.lines {
			line = p.in(line)
			bare := strings.TrimSpace(line)
			if m := detaches.FindStringSubmatch(bare); m != nil {
				file := cmp.Or(m[2], builtIn)
				running[file] = &pageError{path, b.line() + k,
					"this server is not stopped on the page: end it with hikyaku stop"}
				fmt.Fprintf(&s, "detached+=(%s)\nhikyaku serve -c %[1]s --detach\n", file)
				continue
			}
			if m := stops.FindStringSubmatch(bare); m != nil {
				delete(running, cmp.Or(m[2], builtIn))
			}
			if !strings.HasSuffix(bare, "&") {
				s.WriteString(line + "\n")
				continue
			}
			m := sandbox.FindStringSubmatch(bare)
			if m == nil {
				return "", &pageError{path, b.line() + k, "nobody knows how to wait for what this line starts: a " +
					"server is started with hikyaku serve --detach, and only a sandbox may stay behind"}
			}
			end := farEnds[m[1]]
			flags := strings.TrimRight(m[2], " ") + " --listen 127.0.0.1:" + p[end.port]
			if end.control != "" {
				flags += " --control 127.0.0.1:" + p[end.control]
			}
			log := fmt.Sprintf("server-%d-%d.log", i, k)
			fmt.Fprintf(&s, "hikyaku sandbox %s%s >%s 2>&1 &\nawait %s 'hikyaku sandbox %[1]s' %[3]s\n", m[1], flags,
				log, p[end.port])
		}
	}
	for _, stays := range running {
		return "", stays
	}
	fmt.Fprintf(&s, "printf '%send\\n'\nfinish\n", mark)
	return s.String(), nil
}

func TestServersOfAPageAreStoppedAndSandboxesWaitedFor(t *testing.T) {
	p := ports{doorPort: "1", webhookPort: "2", pubsubPort: "3", sqsPort: "4", "2197": "5", "7781": "6"}
	text, err := script("x.md", []block{{language: "sh", lines: []string{
		"hikyaku serve --detach", "hikyaku serve -c x.yaml --detach", "hikyaku sandbox webhook &",
		"hikyaku sandbox apns --streams 5 &",
		"curl http://127.0.0.1:7700/ http://127.0.0.1:7780/", "hikyaku stop", "hikyaku stop -c x.yaml",
	}}}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"detached+=(built-in.yaml)\nhikyaku serve -c built-in.yaml --detach\n",
		"detached+=(x.yaml)\nhikyaku serve -c x.yaml --detach\n",
		"hikyaku sandbox webhook --listen 127.0.0.1:2 >server-0-2.log 2>&1 &\nawait 2 ",
		"hikyaku sandbox apns --streams 5 --listen 127.0.0.1:5 --control 127.0.0.1:6 >server-0-3.log 2>&1 &\nawait 5 ",
		"curl http://127.0.0.1:1/ http://127.0.0.1:2/\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the script lacks\n%s\nit is\n%s", want, text)
		}
	}
	if all := "127.0.0.1:7700 127.0.0.1:7780 127.0.0.1:8085 127.0.0.1:9324"; p.out(p.in(all)) != all ||
		strings.Contains(p.in(all), "7780") {
		t.Error("ports do not come back")
	}
	for line, want := range map[string]string{
		"sleep 5 &": "x.md:7: nobody knows how to wait", "hikyaku serve &": "x.md:7: nobody knows how to wait",
		"hikyaku serve --detach": "x.md:7: this server is not stopped",
	} {
		if _, err := script("x.md", []block{{language: "sh", first: 6, lines: []string{line}}}, p); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
