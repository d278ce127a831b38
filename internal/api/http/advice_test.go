package http_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// deaf listens and answers everybody with the same bytes, which are not HTTP.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := c.Read(make([]byte, 4096)); err != nil { // what it is asked
				t.Error(err)
			}
			io.WriteString(c, "220 mail.example ready\r\n")
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().String()
}

func TestAClientThatCannotReachItsServerGetsFittingAdvice(t *testing.T) {
	files := access.TLS{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	pool := certify(t, files, 1)
	secure := strings.TrimPrefix(start(t, settings{config: door.Config{TLS: files}, users: team}).url, "http://")
	plain := strings.TrimPrefix(start(t, settings{}).url, "http://")
	_, port, err := net.SplitHostPort(secure)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"http://127.0.0.1:1":          "(is `hikyaku serve` running there?)",
		"http://" + secure:            "speaks TLS (try https://",
		"https://" + plain:            "(the server does not speak TLS: try http://" + plain + ")",
		"https://" + secure:           "(nobody whom this machine trusts has signed the certificate)",
		"https://localhost:" + port:   "(the certificate is for another name: use that name in the address)",
		"http://no-such-host.invalid": "(is the name of the host right?)",
		"http://" + deaf(t):           "(what listens there does not speak HTTP: is it the port of the http door?)",
	} {
		c := door.ClientConfig{URL: url, TLS: &tls.Config{RootCAs: x509.NewCertPool()}}
		if strings.Contains(url, "localhost") {
			c.TLS.RootCAs = pool
		}
		client, err := door.NewClient(c)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Ready(t.Context())
		client.Close()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && !strings.Contains(want, "hikyaku serve") && strings.Contains(err.Error(), "hikyaku serve") {
			t.Errorf("%s asks whether a server runs: %v", url, err)
		}
	}
}

func TestASecretThatNoHeaderHoldsIsRefusedBeforeItIsSent(t *testing.T) {
	_, err := door.NewClient(door.ClientConfig{Secret: access.Secret("hunter22\nsecond")})
	if err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "the secret") {
		t.Errorf("%v", err)
	}
}

func TestADoorThatCannotListenSaysWhy(t *testing.T) {
	store := openStore(t, queue.Options{})
	users, err := access.New(team)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for listen, want := range map[string]string{
		taken.Addr().String(): "(another program has the port: choose one with api: http: listen:, or --listen)",
		"192.0.2.1:0": "(this machine does not have that address: choose one with api: http: listen:, or " +
			"--listen)",
	} {
		s, err := door.New(door.Config{Listen: listen}, door.Options{Store: store, Users: users})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:70000", "127.0.0.1:-1", "127.0.0.1:http", "127.0.0.1:"} {
		if _, err := door.New(door.Config{Listen: listen}, door.Options{Store: store}); err == nil ||
			!strings.Contains(err.Error(), "has no port from 0 to 65535") {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

func TestATopicIsNotCalledAQueueThatIsNotThere(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/shop/topics/ev", "")
	r.want(201, "PUT", "/shop/queues/q", "")
	for request, says := range map[string]string{
		"GET /shop/queues/ev":                "shop/ev is a topic, not a queue",
		"GET /shop/queues/ev/messages":       "shop/ev is a topic, not a queue",
		"POST /shop/queues/ev/claim":         "shop/ev is a topic, not a queue",
		"POST /shop/queues/ev/purge":         "shop/ev is a topic, not a queue",
		"GET /shop/topics/q":                 "shop/q is a queue, not a topic",
		"GET /shop/queues/nothing":           "no such queue or topic: shop/nothing",
		"PUT /shop/topics/q/subscriptions/x": "no such queue or topic",
	} {
		method, path, _ := strings.Cut(request, " ")
		if p := r.refused("not-found", method, path, ""); !strings.Contains(p.Detail, says) {
			t.Errorf("%s: %+v", request, p)
		}
	}
}

func TestNumbersOutOfBoundsAreToldAlikeEverywhere(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/shop/queues/q", "")
	for _, c := range [][4]string{
		{"GET", "/shop/queues/q/messages?max=-1", "", "max is -1: it must be between 0 and "},
		{"GET", "/shop/queues/q/messages?max=99999999999999999999999", "",
			"max is 99999999999999999999999: it must be between 0 and "},
		{"GET", "/shop/queues/q/messages?max=ten", "", `max is "ten": it takes a number between 0 and `},
		{"POST", "/shop/queues/q/claim", `{"max":-1}`, "max is -1: it must be between 0 and "},
		{"POST", "/shop/queues/q/replay", `{"max":-1}`, "max is -1: it must be 0 or more"},
	} {
		var header []string
		if c[2] != "" {
			header = []string{"Content-Type", "application/json"}
		}
		if p := r.refused("bad-request", c[0], c[1], c[2], header...); !strings.Contains(p.Detail, c[3]) {
			t.Errorf("%v: %+v", c, p)
		}
	}
}
