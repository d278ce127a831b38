package push_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// nghttpd starts nghttp2's server, which answers each push with a file of one line.
func nghttpd(t testing.TB, args ...string) push.Config {
	t.Helper()
	path, err := exec.LookPath("nghttpd")
	if err != nil {
		t.Fatalf("this test needs nghttpd (apt-get install nghttp2-server): %v", err)
	}
	cert, pool := certificate(t)
	dir := t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}))
	write("ok", []byte("ok\n"))
	says := ""
	for range 20 { // another process may take the port between
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		_, port, _ := net.SplitHostPort(address)
		_ = l.Close()
		cmd := exec.Command(path, append(args, "-a", "127.0.0.1", "-d", dir, port, filepath.Join(dir, "key.pem"),
			filepath.Join(dir, "cert.pem"))...)
		config := push.Config{Address: address, ServerName: "localhost", TLS: &tls.Config{RootCAs: pool}}
		var listens bool
		if says, listens = begin(t, cmd, config); listens {
			return config
		}
	}
	t.Fatalf("nghttpd does not listen: %s", says)
	return push.Config{}
}

// begin starts nghttpd, and returns when it is there, or what it said before it ended.
func begin(t testing.TB, cmd *exec.Cmd, config push.Config) (says string, listens bool) {
	t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	ours := config.TLS.Clone() // another's server has another certificate
	ours.ServerName, ours.NextProtos = config.ServerName, []string{"h2"}
	for {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", config.Address, ours)
		if err == nil {
			_ = conn.Close()
			return "", true
		}
		select {
		case <-ended:
			return output.String(), false
		case <-time.After(time.Millisecond):
		}
	}
}

// pushRequest is a push as to APNs.
func pushRequest(i int) *push.Request {
	return &push.Request{Method: "POST", Path: "/ok?" + fmt.Sprintf("%064x", i), Header: pushHeader, Body: pushBody}
}

var (
	pushHeader = []push.Field{
		{Name: "authorization",
			Value: "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyMzQ1NjcifQ.eyJpc3MiOiJERUYxMjM0NTY3IiwiaWF0IjoxNzYzODAwMDAwfQ.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlcw", Sensitive: true},
		{Name: "apns-topic", Value: "org.example.news"},
		{Name: "apns-push-type", Value: "alert"},
		{Name: "apns-priority", Value: "10"},
		{Name: "apns-expiration", Value: "1763890000"},
	}
	pushBody = []byte(
		`{"aps":{"alert":{"title":"News 42","body":"Something has happened somewhere."},"sound":"default"}}`)
)

// keepSending sends n requests with at most so many under way, each answer bringing the next request.
func keepSending(t testing.TB, c *push.Client, n, under int) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Add(n)
	var next atomic.Int64
	next.Store(int64(min(under, n)))
	var done func(push.Result)
	done = func(r push.Result) {
		if r.Err != nil || r.Response.Status != 200 {
			t.Errorf("%+v", r)
		}
		if mine := int(next.Add(1)) - 1; mine < n {
			c.Send(pushRequest(mine), time.Time{}, done)
		}
		wg.Done()
	}
	for j := range min(under, n) {
		c.Send(pushRequest(j), time.Time{}, done)
	}
	wg.Wait()
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestNghttpdTakesOurPushes(t *testing.T) {
	for name, c := range map[string]struct {
		args        []string
		connections int
		n           int
	}{
		"plenty of streams":            {[]string{"-m", "1000"}, 1, 20_000},
		"one stream":                   {[]string{"-m", "1"}, 1, 500},
		"three streams":                {[]string{"-m", "3"}, 4, 3000},
		"small windows":                {[]string{"-w", "4", "-W", "10"}, 1, 500},
		"no table for fields":          {[]string{"--header-table-size=0", "--encoder-header-table-size=0"}, 1, 2000},
		"a small table, small windows": {[]string{"--header-table-size=200", "-w", "6"}, 2, 2000},
		"padded, with trailers":        {[]string{"--padding=100", "--trailer=apns-unique-id: x"}, 1, 2000},
		"early answers":                {[]string{"--early-response"}, 1, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			config := nghttpd(t, c.args...)
			config.MaxConnections, config.RequestTimeout = c.connections, 5*time.Minute
			client := newClient(t, config)
			keepSending(t, client, c.n, 300)
			s := client.Stats()
			if s.Responses != uint64(c.n) || s.Dials > uint64(c.connections) || s.Resent+s.Resets+s.Unknown > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// BenchmarkNghttpd pushes over one connection with TLS, 2,000 under way, by this client and by Go's: cpu-µs/op is the
// CPU of this process.
func BenchmarkNghttpd(b *testing.B) {
	config := nghttpd(b, "-m", "1000")
	b.Run("push", func(b *testing.B) {
		c := newClient(b, config)
		keepSending(b, c, 1000, 100)
		b.ReportAllocs()
		b.ResetTimer()
		used := cpu()
		keepSending(b, c, b.N, 2000)
		b.StopTimer()
		report(b, used)
		s := c.Stats()
		b.ReportMetric(float64(s.Responses)/float64(s.Writes), "pushes/write")
	})
	b.Run("lone", func(b *testing.B) { // one after the other
		c := newClient(b, config)
		keepSending(b, c, 100, 1)
		b.ReportAllocs()
		b.ResetTimer()
		used := cpu()
		keepSending(b, c, b.N, 1)
		b.StopTimer()
		report(b, used)
	})
	b.Run("nethttp", func(b *testing.B) {
		t := &http.Transport{TLSClientConfig: config.TLS.Clone(), ForceAttemptHTTP2: true}
		t.TLSClientConfig.ServerName = "localhost"
		defer t.CloseIdleConnections()
		one := func(i int) {
			r := pushRequest(i)
			h, err := http.NewRequestWithContext(context.Background(), r.Method, "https://"+config.Address+r.Path,
				bytes.NewReader(r.Body))
			if err != nil {
				b.Error(err)
				return
			}
			for _, f := range r.Header {
				h.Header.Set(f.Name, f.Value)
			}
			a, err := t.RoundTrip(h)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, a.Body)
			_ = a.Body.Close()
			if a.StatusCode != 200 || a.ProtoMajor != 2 {
				b.Error(a.Status)
			}
		}
		one(0)
		b.ReportAllocs()
		b.ResetTimer()
		used := cpu()
		var wg sync.WaitGroup
		work := make(chan int, 1000)
		for range 1000 {
			wg.Go(func() {
				for i := range work {
					one(i)
				}
			})
		}
		for i := range b.N {
			work <- i
		}
		close(work)
		wg.Wait()
		b.StopTimer()
		report(b, used)
	})
}

func report(b *testing.B, used time.Duration) {
	b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pushes/s")
}
