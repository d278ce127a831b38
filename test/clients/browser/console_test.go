package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// server is a running `hikyaku serve`, of which the HTTP door alone is open.
type server struct {
	*testing.T
	config  string
	cmd     *exec.Cmd
	drained chan struct{}
	address string // of the door
}

const doors = "data_dir: %s\napi:\n  http: { listen: %s }\n  mysql: { off: true }\n  pubsub: { off: true }\n" +
	"  sqs: { off: true }\n  lambda: { off: true }\n"

// console starts the real program with queues, as their definitions are written in a configuration.
func console(t *testing.T, queues string) *server {
	t.Helper()
	s := &server{T: t, config: fmt.Sprintf(doors, t.TempDir(), "%s") + queues, address: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.stop)
	return s
}

// start starts it where it was before.
func (s *server) start() {
	s.Helper()
	file := filepath.Join(s.TempDir(), "hikyaku.yaml")
	text := strings.Replace(s.config, "%s", s.address, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	s.cmd = exec.CommandContext(context.Background(), program.binary, "serve", "-c", file)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	opened := regexp.MustCompile(`msg=console address=http://([^/]+)/console`)
	found, sc, log := "", bufio.NewScanner(stderr), ""
	for found == "" && sc.Scan() {
		log += sc.Text() + "\n"
		if m := opened.FindStringSubmatch(sc.Text()); m != nil {
			found = m[1]
		}
	}
	s.drained = make(chan struct{})
	go func() {
		defer close(s.drained)
		for sc.Scan() {
			log += sc.Text() + "\n"
		}
	}()
	if found == "" {
		s.stop()
		s.Fatalf("serve ended at once:\n%s", log)
	}
	s.address = found
}

// stop stops it, and waits until it has ended.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.drained
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("serve ended with %v", err)
	}
	s.cmd = nil
}

// page is the address of a page of the console.
func (s *server) page(path string) string { return "http://" + s.address + "/-/console/" + path }

// call asks the HTTP door for something of the namespace default, as a program does.
func (s *server) call(method, path string, body, answer any) {
	s.Helper()
	var b []byte
	kind := "application/json"
	switch body := body.(type) {
	case nil:
	case []byte:
		b, kind = body, "application/octet-stream"
	default:
		var err error
		if b, err = json.Marshal(body); err != nil {
			s.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(s.Context(), method, "http://"+s.address+"/default/"+path,
		bytes.NewReader(b))
	if err != nil {
		s.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", kind)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= 300 {
		s.Fatalf("%s %s: %s %s %v", method, path, got.Status, said, err)
	}
	if answer != nil {
		if err := json.Unmarshal(said, answer); err != nil {
			s.Fatalf("%s: %v", said, err)
		}
	}
}

type fields = map[string]any

// settle takes a message that meets a condition and settles it.
func (s *server) settle(queue, where, as, reason string) {
	s.Helper()
	var got struct{ Messages []struct{ Token string } }
	s.call("POST", "queues/"+queue+"/claim", fields{"where": where}, &got)
	if len(got.Messages) != 1 {
		s.Fatalf("%d messages meet %s", len(got.Messages), where)
	}
	one := fields{"token": got.Messages[0].Token, "as": as}
	if reason != "" {
		one["reason"] = reason
	}
	s.call("POST", "settle", fields{"settlements": []any{one}}, nil)
}

// look is how somebody looks at the pages.
type look struct {
	width, height int
	lang          string
	dark, still   bool // still: without scripts
}

func (l look) String() string {
	name := fmt.Sprintf("%d×%d %s", l.width, l.height, l.lang)
	if l.dark {
		name += " dark"
	}
	return name
}

var (
	phone = look{width: 360, height: 740, lang: "en"}
	wide  = look{width: 1280, height: 800, lang: "en"}
)

func (l look) in(lang string) look { l.lang = lang; return l }

// watched notes what a page must not do: scripts of others open a window or set a mark, and the policy stops them.
const watched = `window.forbidden = [];
for (const name of ["alert", "confirm", "prompt"]) window[name] = () => { forbidden.push(name); };
addEventListener("securitypolicyviolation", (e) => forbidden.push(e.violatedDirective + " " + e.blockedURI));`

// looks opens an address as somebody sees it.
func (c *chromium) looks(t *testing.T, l look, address string) *tab {
	t.Helper()
	p := c.visit(t, "about:blank", l.width, l.height)
	t.Cleanup(func() { _ = c.do(p.session, "Page.close", fields{}, nil) }) // six streams are all that a server gets
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	p.tell("Emulation.setEmulatedMedia", fields{"features": []any{fields{"name": "prefers-color-scheme",
		"value": scheme}}})
	p.tell("Network.setUserAgentOverride", fields{"userAgent": "test", "acceptLanguage": l.lang})
	if l.still {
		p.tell("Emulation.setScriptExecutionDisabled", fields{"value": true})
	} else {
		p.tell("Page.addScriptToEvaluateOnNewDocument", fields{"source": watched})
	}
	p.goes(address)
	return p
}

// goes leads to an address, and waits until its page is there.
func (p *tab) goes(address string) {
	p.Helper()
	p.ask("window.left = true", nil)
	p.tell("Page.navigate", fields{"url": address})
	p.comes("!window.left && document.readyState === 'complete'")
}

// comes is until for pages without scripts, whose timers stand still, and for pages that follow one another.
func (p *tab) comes(expression string) {
	p.Helper()
	for p.browser.ctx.Err() == nil {
		var got struct{ Result struct{ Value bool } }
		err := p.browser.do(p.session, "Runtime.evaluate", fields{"returnByValue": true,
			"expression": "(() => { try { return Boolean(" + expression + "); } catch { return false; } })()"}, &got)
		if err == nil && got.Result.Value {
			return
		}
	}
	p.Fatalf("this never became true: %s\n%s", expression, p.text("body"))
}
