package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// remote is how publish, claim and queue reach a running hikyaku.
type remote struct {
	url    string
	secret string
}

func (r *remote) register(cmd *cobra.Command) {
	url := os.Getenv("HIKYAKU_URL")
	if url == "" {
		url = "http://" + httpdoor.DefaultListen
	}
	cmd.PersistentFlags().StringVar(&r.url, "url", url, "the HTTP door of a running hikyaku (or HIKYAKU_URL)")
	cmd.PersistentFlags().StringVar(&r.secret, "secret-file", "", "`FILE` with a user's secret (or HIKYAKU_SECRET in the environment)")
}

// client connects nothing yet.
func (r *remote) client() (*httpdoor.Client, error) {
	secret := os.Getenv("HIKYAKU_SECRET")
	if r.secret != "" {
		text, err := os.ReadFile(r.secret)
		if err != nil {
			return nil, fmt.Errorf("read the secret: %w", err)
		}
		secret = string(trimLine(text))
	}
	return httpdoor.NewClient(httpdoor.ClientConfig{URL: r.url, Secret: access.Secret(secret)})
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// reached adds advice to an error of a door that is not there.
func (r *remote) reached(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return &hinted{err, "no hikyaku answers at " + r.url + ": start one with `hikyaku serve`, or say where it is with --url"}
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
