package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// remote is how publish, claim, queue, topic and snapshot reach a running hikyaku.
type remote struct {
	url    string
	secret string // a file
	ca     string // a file
}

func (r *remote) register(cmd *cobra.Command) {
	// The environment is no default of the flag: help would show what stands in it.
	cmd.PersistentFlags().StringVar(&r.url, "url", "", "the `ADDRESS` of a running hikyaku's HTTP door (or "+
		"HIKYAKU_URL; default http://"+httpdoor.DefaultListen+")")
	cmd.PersistentFlags().StringVar(&r.ca, "ca-file", "", "trust the certificates in this PEM `FILE` too: for a door "+
		"with one that it signed itself")
	cmd.PersistentFlags().StringVar(&r.secret, "secret-file", "",
		"`FILE` with a user's secret (or HIKYAKU_SECRET in the environment)")
}

// startTime is how long commands wait for a server that is starting.
const startTime = time.Second

// client connects nothing yet.
func (r *remote) client() (*httpdoor.Client, error) {
	if err := r.address(); err != nil {
		return nil, err
	}
	trust, err := r.trust()
	if err != nil {
		return nil, err
	}
	secret, err := r.secretText()
	if err != nil {
		return nil, err
	}
	return httpdoor.NewClient(httpdoor.ClientConfig{URL: r.url, Secret: secret, TLS: trust, Patience: startTime})
}

// secretText is the user's secret, of the environment or a file; "" where there is none.
func (r *remote) secretText() (access.Secret, error) {
	secret := os.Getenv("HIKYAKU_SECRET")
	if r.secret != "" {
		text, err := os.ReadFile(r.secret)
		if err != nil {
			return "", fmt.Errorf("read the secret: %w", err)
		}
		if secret = string(trimLine(text)); secret == "" {
			return "", fmt.Errorf("the secret file %s is empty", r.secret)
		}
	}
	if strings.ContainsFunc(secret, unicode.IsControl) {
		return "", &hinted{errors.New("the secret has more than one line, or other control characters, in it"),
			"a secret is one line of text: see HIKYAKU_SECRET or --secret-file"}
	}
	return access.Secret(secret), nil
}

// address settles which door to speak to. Errors show an address, so a secret must not be in it.
func (r *remote) address() error {
	if r.url == "" {
		r.url = os.Getenv("HIKYAKU_URL")
	}
	if r.url == "" {
		r.url = "http://" + httpdoor.DefaultListen
	}
	return withoutSecret(r.url, "--url or HIKYAKU_URL")
}

// withoutSecret refuses an address with a user or a secret in it, which flags or a variable have said.
func withoutSecret(url, saidBy string) error {
	if strings.Contains(url, "@") {
		return &usageError{fmt.Errorf("the address of the door (%s) has a user or a secret in it", saidBy),
			"put the secret into HIKYAKU_SECRET or a --secret-file: it alone says who you are"}
	}
	return nil
}

// trust is the system's certificates with those of --ca-file; nil without it.
func (r *remote) trust() (*tls.Config, error) {
	if r.ca == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(r.ca)
	if err != nil {
		return nil, fmt.Errorf("read the certificates to trust: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("there is no PEM certificate in %s", r.ca)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// reached adds advice to an error of a door that is not there.
func (r *remote) reached(err error) error {
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return &hinted{err, "start one with `hikyaku serve`, or say where it is with --url"}
	case errors.As(err, &unknown):
		return &hinted{err, "if the certificate is your own, name it with --ca-file"}
	}
	return err
}

// name reads the name of a queue or topic from the command line.
func name(arg string) (queue.Name, error) {
	n, err := queue.ParseName(arg)
	if err != nil {
		return n, &usageError{err, "a name is NAME or NAMESPACE/NAME"}
	}
	return n, nil
}

// printJSON writes a value as one line.
func printJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}
