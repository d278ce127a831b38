package docs

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
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
	p := ports{}
	var held []net.Listener // until all have one, so that none is given twice
	for _, shown := range shownPorts() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		if _, p[shown], err = net.SplitHostPort(l.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range held {
		if err := l.Close(); err != nil {
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
make() {
	command make -C "$HIKYAKU_ROOT" -n "$@" >/dev/null
	if [ "$1" = demo ]; then hikyaku demo; fi
}
`

// mark separates the outputs of blocks.
const mark = "\x1e"

// builtIn is the configuration of a serve without one, at another address.
const builtIn = "built-in.yaml"

var server = regexp.MustCompile(`^hikyaku (serve|sandbox (webhook|apns|fcm|webpush))( .*)?\s*&$`)

// script makes one shell script of the blocks that are run.
func script(path string, blocks []block, p ports) (string, error) {
	var s strings.Builder
	s.WriteString(prelude)
	for i, b := range blocks {
		fmt.Fprintf(&s, "printf '%s%d\\n'\n", mark, i)
		for k, line := range b.lines {
			line = p.in(line)
			if !strings.HasSuffix(strings.TrimSpace(line), "&") {
				s.WriteString(line + "\n")
				continue
			}
			m := server.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				return "", &pageError{path, b.line() + k, "nobody knows how to wait for what this line starts: only serve and sandbox may stay behind"}
			}
			port, flags := p[doorPort], strings.TrimRight(m[3], " ")
			end, sandbox := farEnds[m[2]]
			switch {
			case sandbox:
				port = p[end.port]
				flags += " --listen 127.0.0.1:" + port
				if end.control != "" {
					flags += " --control 127.0.0.1:" + p[end.control]
				}
			case flags == "":
				flags = " -c " + builtIn
			}
			log := fmt.Sprintf("server-%d-%d.log", i, k)
			fmt.Fprintf(&s, "hikyaku %s%s >%s 2>&1 &\nawait %s 'hikyaku %[1]s' %[3]s\n", m[1], flags, log, port)
		}
	}
	fmt.Fprintf(&s, "printf '%send\\n'\nfinish\n", mark)
	return s.String(), nil
}

func TestServersOfAPageAreWaitedFor(t *testing.T) {
	p := ports{doorPort: "1", webhookPort: "2", pubsubPort: "3", sqsPort: "4", "2197": "5", "7781": "6"}
	text, err := script("x.md", []block{{language: "sh", lines: []string{"hikyaku serve &", "hikyaku serve -c x.yaml &", "hikyaku sandbox webhook &", "hikyaku sandbox apns --streams 5 &", "curl http://127.0.0.1:7700/ http://127.0.0.1:7780/"}}}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"hikyaku serve -c built-in.yaml >server-0-0.log 2>&1 &\nawait 1 'hikyaku serve' server-0-0.log\n",
		"hikyaku serve -c x.yaml >server-0-1.log 2>&1 &\nawait 1 ",
		"hikyaku sandbox webhook --listen 127.0.0.1:2 >server-0-2.log 2>&1 &\nawait 2 ",
		"hikyaku sandbox apns --streams 5 --listen 127.0.0.1:5 --control 127.0.0.1:6 >server-0-3.log 2>&1 &\nawait 5 ",
		"curl http://127.0.0.1:1/ http://127.0.0.1:2/\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the script lacks\n%s\nit is\n%s", want, text)
		}
	}
	if all := "127.0.0.1:7700 127.0.0.1:7780 127.0.0.1:8085 127.0.0.1:9324"; p.out(p.in(all)) != all || strings.Contains(p.in(all), "7780") {
		t.Error("ports do not come back")
	}
	_, err = script("x.md", []block{{language: "sh", first: 6, lines: []string{"sleep 5 &"}}}, p)
	if err == nil || !strings.HasPrefix(err.Error(), "x.md:7: nobody knows how to wait") {
		t.Errorf("an unknown server says %v", err)
	}
}
