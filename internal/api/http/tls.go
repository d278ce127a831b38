package http

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificate is a certificate that follows its files: before a handshake, but at most once a second, it looks whether they changed.
// Files that can not be read, or do not fit each other, leave the certificate there was in use.
type certificate struct {
	files  TLS
	report func(error)

	mu      sync.Mutex
	current *tls.Certificate
	stamp   stamp
	looked  time.Time
}

// lookEvery is how long a look at the files is good for.
const lookEvery = time.Second

// stamp tells a version of two files.
type stamp struct {
	cert, key         time.Time
	certSize, keySize int64
}

func openCertificate(files TLS, report func(error)) (*certificate, error) {
	c := &certificate{files: files, report: report}
	var err error
	if c.stamp, err = c.look(); err != nil {
		return nil, fmt.Errorf("http door: tls: %w", err)
	}
	if c.current, err = c.load(); err != nil {
		return nil, err
	}
	c.looked = time.Now()
	return c, nil
}

func (c *certificate) look() (s stamp, err error) {
	cert, err := os.Stat(c.files.Cert)
	if err != nil {
		return s, err
	}
	key, err := os.Stat(c.files.Key)
	if err != nil {
		return s, err
	}
	return stamp{cert.ModTime(), key.ModTime(), cert.Size(), key.Size()}, nil
}

func (c *certificate) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return nil, fmt.Errorf("http door: tls: %s and %s are no certificate with its key: %w", c.files.Cert, c.files.Key, err)
	}
	return &pair, nil
}

// get is the tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		c.follow()
	}
	return c.current, nil
}

func (c *certificate) follow() {
	now, err := c.look()
	if err != nil {
		c.report(fmt.Errorf("http door: tls: the certificate in use stays: %w", err))
		return
	}
	if now == c.stamp {
		return
	}
	pair, err := c.load()
	if err != nil {
		c.report(fmt.Errorf("%w (the certificate in use stays)", err))
		return // the key may be on its way: look again
	}
	c.current, c.stamp = pair, now
}
