package sqs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// certificate writes a certificate for 127.0.0.1 and its key into files, and returns who trusts it.
func certificate(t *testing.T) (access.TLS, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := access.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{files.Cert: {Type: "CERTIFICATE", Bytes: s.Certificate().Raw},
		files.Key: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return files, pool
}

func TestUnderTLSEverythingIsTheSame(t *testing.T) {
	files, pool := certificate(t)
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	r := newRigOver(t, Config{TLS: files}, nil, s, clock)
	r.base = strings.Replace(r.base, "http:", "https:", 1)
	r.web.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 300}
	r.client = r.as("key", "secret")
	url := r.queue("news")
	if want := r.base + "/000000000000/news"; url != want {
		t.Errorf("the URL is %s, not %s", url, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := r.client.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		gone <- err
	}()
	r.awaitWaiters(news, 1)
	cancel()
	<-gone
	r.awaitWaiters(news, 0)
	go func() {
		out, err := r.client.ReceiveMessage(t.Context(),
			&client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		if err == nil && len(out.Messages) == 1 {
			err = r.delete(url, out.Messages[0])
		}
		gone <- err
	}()
	r.awaitWaiters(news, 1)
	r.send(url, "hello")
	if err := <-gone; err != nil {
		t.Error(err)
	}
	r.wantLeft("news", 0)
	if status, body := r.form("/", "Action", "ListQueues"); status != 200 || !strings.Contains(body, url) {
		t.Error(status, body)
	}
}

func TestACertificateThatCannotBeReadStopsTheStart(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	d, err := New(Config{Listen: "127.0.0.1:0", TLS: access.TLS{Cert: "none.pem", Key: "none.pem"}},
		Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "none.pem") {
		t.Error(err)
	}
}
