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
)

// ports are free ones that stand in for those of the documents.
type ports struct{ door, webhook, pubsub string }

func freePorts(t *testing.T) ports {
	t.Helper()
	free := func() (port string, release func() error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, err = net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return port, l.Close
	}
	door, releaseDoor := free()
	hook, releaseHook := free()
	pubsub, releasePubsub := free()
	for _, release := range []func() error{releaseDoor, releaseHook, releasePubsub} {
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	return ports{door, hook, pubsub}
}

// pairs are the documents' addresses and those that stand in for them.
func (p ports) pairs() (shown, free []string) {
	for _, a := range [][2]string{{doorPort, p.door}, {webhookPort, p.webhook}, {pubsubPort, p.pubsub}} {
		shown, free = append(shown, "127.0.0.1:"+a[0]), append(free, "127.0.0.1:"+a[1])
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

var server = regexp.MustCompile(`^hikyaku (serve|sandbox webhook)( .*)?\s*&$`)

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
				return "", &pageError{path, b.line() + k, "nobody knows how to wait for what this line starts: only serve and sandbox webhook may stay behind"}
			}
			port, flags := p.door, strings.TrimRight(m[2], " ")
			switch {
			case m[1] != "serve":
				port, flags = p.webhook, flags+" --listen 127.0.0.1:"+p.webhook
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
	p := ports{"1", "2", "3"}
	text, err := script("x.md", []block{{language: "sh", lines: []string{"hikyaku serve &", "hikyaku serve -c x.yaml &", "hikyaku sandbox webhook &", "curl http://127.0.0.1:7700/ http://127.0.0.1:7780/"}}}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"hikyaku serve -c built-in.yaml >server-0-0.log 2>&1 &\nawait 1 'hikyaku serve' server-0-0.log\n",
		"hikyaku serve -c x.yaml >server-0-1.log 2>&1 &\nawait 1 ",
		"hikyaku sandbox webhook --listen 127.0.0.1:2 >server-0-2.log 2>&1 &\nawait 2 ",
		"curl http://127.0.0.1:1/ http://127.0.0.1:2/\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the script lacks\n%s\nit is\n%s", want, text)
		}
	}
	if p.out(p.in("127.0.0.1:7700 127.0.0.1:7780 127.0.0.1:8085")) != "127.0.0.1:7700 127.0.0.1:7780 127.0.0.1:8085" {
		t.Error("ports do not come back")
	}
	_, err = script("x.md", []block{{language: "sh", first: 6, lines: []string{"sleep 5 &"}}}, p)
	if err == nil || !strings.HasPrefix(err.Error(), "x.md:7: nobody knows how to wait") {
		t.Errorf("an unknown server says %v", err)
	}
}
