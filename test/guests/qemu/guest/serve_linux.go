package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// loopback switches on the network that ends in this machine.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

// uinputServed presses the buttons of the page.
func uinputServed(t *test) {
	const address = "127.0.0.1:8080"
	p := t.begin("", "serve", "--device", "uinput", "--listen", address)
	one, two := t.watch("hikyaku pad 1"), t.watch("hikyaku pad 2")
	t.eventually("the page is served", func() bool { return strings.Contains(p.said.String(), "http://"+address+"/") })
	ask := func(path string, what map[string]any) {
		b, err := json.Marshal(what)
		t.check(err)
		t.eventually("the page takes "+path, func() bool {
			answer, err := http.Post("http://"+address+path, "application/json", strings.NewReader(string(b)))
			t.check(err)
			answer.Body.Close()
			// the last one has been let go, and has not ended yet
			if answer.StatusCode >= 300 && answer.StatusCode != http.StatusConflict {
				t.fatalf("%s %s: %s", path, b, answer.Status)
			}
			return answer.StatusCode < 300
		})
	}
	ask("/press", map[string]any{"press": "lp", "player": 1})
	one.rests(down(west))
	ask("/press", map[string]any{"press": "lk", "player": 2})
	two.rests(down(south))
	ask("/run", map[string]any{"text": endless})
	one.sees(down(tr))
	ask("/stop", nil)
	one.rests(down(tr))
	ask("/press", map[string]any{"press": "mk", "player": 1})
	one.rests(down(east))
	p.signal(syscall.SIGTERM)
	one.vanishes()
	two.vanishes()
	p.mustEnd(0)
}
