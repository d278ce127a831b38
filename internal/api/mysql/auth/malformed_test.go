package auth_test

import (
	"bytes"
	"crypto/tls"
	"runtime"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
)

func TestMalformedAnswersAreRefusedAndTheServerGoesOn(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	before := runtime.NumGoroutine()
	for what, misbehave := range map[string]func(*raw){
		"a native proof too short": func(r *raw) {
			r.hello(flagsNew, "ann", nativeName,
				nativeProof(r.salt)[:19])
			r.out()
		},
		"a native proof too long": func(r *raw) {
			r.hello(flagsNew, "ann", nativeName,
				append(nativeProof(r.salt), 0))
			r.out()
		},
		"a native proof of a byte": func(r *raw) { r.hello(flagsNew, "ann", nativeName, []byte{1}); r.out() },
		"an endless name": func(r *raw) {
			r.hello(flagsNew, string(bytes.Repeat([]byte{'n'}, 100_000)),
				nativeName, nil)
			r.out()
		},
		"an empty packet": func(r *raw) { r.send(nil); r.over() },
		"flags alone":     func(r *raw) { r.send(flags(flagsNew)); r.over() },
		"a name without an end": func(r *raw) {
			r.send(append(flags(flagsNew),
				bytes.Repeat([]byte{'x'}, 60)...))
			r.over()
		},
		"a protocol of long ago": func(r *raw) { r.hello(flagLongPassword, "ann", "", nil); r.over() },
		"a packet out of turn":   func(r *raw) { r.number = 7; r.hello(flagsNew, "ann", nativeName, nil); r.over() },
		"another protocol": func(
			r *raw) {
			r.conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			r.over()
		},
		"half a packet":          func(r *raw) { r.conn.Write([]byte{100, 0, 0, 1, 'x'}); r.conn.Close() },
		"nothing":                func(r *raw) { r.conn.Close() },
		"an end in the exchange": func(r *raw) { insist(r.t, d, "tcp", "ann").conn.Close() },
		"an end before the key":  func(r *raw) { i := insist(r.t, d, "tcp", "ann"); i.key(); i.conn.Close() },
		"an exchange out of turn": func(r *raw) {
			i := insist(r.t, d, "tcp",
				"ann")
			i.number += 3
			i.send([]byte{2})
			i.over()
		},
		"more than any handshake": func(r *raw) {
			i := insist(r.t, d, "unix", "ann")
			chunk := append([]byte{0xff, 0xff, 0xff, i.number}, make([]byte, 1<<20)...)
			i.conn.Write(chunk) // fails when the server has seen enough
			i.over()
		},
	} {
		t.Run(what, func(t *testing.T) { misbehave(knock(t, d, "tcp")) })
	}
	r := knock(t, d, "tcp")
	r.hello(flagsNew, "ann", nativeName, nativeProof(r.salt))
	r.in("ann")
	r.conn.Close()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines stay", runtime.NumGoroutine()-before)
		}
	}
}

func TestAClientThatFallsSilentInTheHandshakeIsClosed(t *testing.T) {
	d := openFor(t, auth.New(someUsers(t)), 3*time.Second) // enough for those that go on, on a busy machine too
	in := knock(t, d, "tcp")
	in.hello(flagsNew, "ann", nativeName, nativeProof(in.salt))
	in.in("ann")
	for len(in.read()) != 5 { // the rest of the result
	}
	silent := map[string]*raw{} // all at once: each costs the whole time
	for what, begin := range map[string]func(way string) *raw{
		"after the greeting":      func(way string) *raw { return knock(t, d, way) },
		"in the middle of a word": func(way string) *raw { r := knock(t, d, way); r.conn.Write([]byte{9}); return r },
		"in the exchange":         func(way string) *raw { return insist(t, d, way, "ann") },
	} {
		for _, way := range []string{"tcp", "unix", "tls"} {
			r := begin(way)
			if c, ok := r.conn.(*tls.Conn); ok {
				if err := c.Handshake(); err != nil { // or it would be the first read's
					t.Fatal(err)
				}
			}
			silent[what+" by "+way] = r
		}
	}
	for how, r := range silent {
		t.Run(how, func(t *testing.T) { r.t = t; r.over() })
	}
	in.number = 0
	in.send([]byte("\x03who"))
	if p := in.read(); !bytes.Equal(p, []byte{1}) {
		t.Errorf("a client that was let in before is answered %q", p)
	}
}

func TestChangingTheUserIsRefusedWithoutHarm(t *testing.T) {
	r := knock(t, open(t, auth.New(someUsers(t))), "tcp")
	r.hello(flagsNew, "ann", nativeName, nativeProof(r.salt))
	r.in("ann")
	for len(r.read()) != 5 { // the rest of the result
	}
	r.number = 0
	r.send([]byte("\x11bob\x00\x00\x00"))
	if p := r.read(); p[0] != 0xff {
		t.Errorf("the user was changed: %q", p)
	}
}
