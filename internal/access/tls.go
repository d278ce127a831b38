package access

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// TLS names the files of a door's certificate. They are read again when they change.
type TLS struct {
	Cert string `yaml:"cert" file:"read"` // PEM, with the chain
	Key  string `yaml:"key" file:"read"`  // PEM
}

// On tells whether TLS is wanted.
func (t TLS) On() bool { return t.Cert != "" || t.Key != "" }

// Open reads the certificate and returns the settings of a listener that offers the protocols, by their names in ALPN;
// nil when TLS is not wanted. That the files cannot be used is told as bad, the door's own error. report is told when
// they changed and cannot be used: then the certificate there was stays in use.
func (t TLS) Open(bad error, report func(error), protocols ...string) (*tls.Config, error) {
	if !t.On() {
		return nil, nil
	}
	c := &certificate{files: t, bad: bad, report: report}
	var err error
	if c.stamp, err = c.look(); err != nil {
		return nil, fmt.Errorf("%w: tls: %w", bad, err)
	}
	if c.current, err = c.load(); err != nil {
		return nil, err
	}
	c.looked = time.Now()
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: protocols}, nil
}

// certificate is a certificate that follows its files: before a handshake, but at most once a second, it looks whether
// they changed. Files that can not be read, or do not fit each other, leave the certificate there was in use.
type certificate struct {
	files  TLS
	bad    error
	report func(error)

	mu      sync.Mutex
	current *tls.Certificate
	stamp   stamp
	looked  time.Time
	told    string // what was reported last, until the files are good again
}

// lookEvery is how long a look at the files is good for.
const lookEvery = time.Second

// stamp tells a version of two files.
type stamp struct {
	cert, key         time.Time
	certSize, keySize int64
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
		return nil, fmt.Errorf("%w: tls: %s and %s are no certificate with its key: %w", c.bad, c.files.Cert,
			c.files.Key, err)
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
		c.tell(fmt.Errorf("%w: tls: the certificate in use stays: %w", c.bad, err))
		return
	}
	if now == c.stamp {
		c.told = ""
		return
	}
	pair, err := c.load()
	if err != nil {
		c.tell(fmt.Errorf("%w (the certificate in use stays)", err))
		return // the key may be on its way: look again
	}
	c.current, c.stamp, c.told = pair, now, ""
}

// tell reports what is wrong with the files, once: handshakes of strangers have it looked at every second.
func (c *certificate) tell(err error) {
	if text := err.Error(); text != c.told {
		c.told = text
		c.report(err)
	}
}
