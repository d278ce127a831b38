package farend

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheGateLetsInNoMoreThanItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Newcomers{PerSecond: rapid.Float64Range(0.1, 100).Draw(t, "rate"),
			Burst: rapid.IntRange(0, 50).Draw(t, "burst")}
		burst := float64(n.Burst)
		if n.Burst == 0 {
			burst = max(1, n.PerSecond)
		}
		var g gate
		begin := time.Unix(0, 0)
		now, in := begin, 0
		for _, ms := range rapid.SliceOfN(rapid.IntRange(0, 2000), 1, 300).Draw(t, "gaps") {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			if g.open(n, now) {
				in++
			}
			if most := burst + now.Sub(begin).Seconds()*n.PerSecond; float64(in) > most+0.001 {
				t.Fatalf("%d were let in where %v may", in, most)
			}
		}
		if in == 0 {
			t.Fatal("not even the first was let in")
		}
	})
}

func TestTheGateIsOpenWithoutARate(t *testing.T) {
	var g gate
	for range 1000 {
		if !g.open(Newcomers{}, time.Unix(0, 0)) {
			t.Fatal("closed")
		}
	}
}

func TestThoseTurnedAwayAreTreatedAsTold(t *testing.T) {
	for do, want := range map[Treatment][2]Treatment{
		"": {ResetThem, ResetThem}, ResetThem: {ResetThem, ResetThem}, HangThem: {HangThem, HangThem},
		MixThem: {ResetThem, HangThem},
	} {
		var g gate
		if got := [2]Treatment{g.treatment(Newcomers{Do: do}), g.treatment(Newcomers{Do: do})}; got != want {
			t.Errorf("%q: %v", do, got)
		}
	}
}

// pushy and other clients with prior knowledge of HTTP/2 name no protocol in the handshake, which the real far ends
// take.
func TestHTTP2NeedNotBeNamedInTheHandshake(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Authority: a})
	dialed := func(ctx context.Context, network, address string) (net.Conn, error) {
		d := tls.Dialer{Config: &tls.Config{RootCAs: a.Pool(), ServerName: "localhost"}}
		return d.DialContext(ctx, network, address)
	}
	transport := &http.Transport{DialContext: dialed, Protocols: new(http.Protocols)}
	// over a connection that dialed has encrypted, so http.Transport asks for nothing in the handshake
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: patience}).Post("http://"+s.Addr().String()+"/phone/1",
		"", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || s.CountDevice("phone") != 1 {
		t.Errorf("it answered %d, and counted %d", resp.StatusCode, s.CountDevice("phone"))
	}

	one := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Pool(), ServerName: "localhost"},
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	defer one.CloseIdleConnections()
	resp, err = (&http.Client{Transport: one, Timeout: patience}).Post(s.URL()+"/phone/1", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusHTTPVersionNotSupported ||
		!strings.Contains(string(text), "HTTP/2 alone") {
		t.Errorf("a client of HTTP/1 is told %d %q, %v", resp.StatusCode, text, err)
	}
}
