package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// pushFlags are what the far ends for pushes have in common.
type pushFlags struct {
	listen, control, dir, behaviour string
	plain                           bool

	latency, most time.Duration
	sigma         float64
	streams       int
	newcomers     float64
	treatment     string
	slowOneIn     int
	slow          time.Duration
}

func (p *pushFlags) register(cmd *cobra.Command, listen, control, dir string) {
	f := cmd.Flags()
	f.StringVar(&p.listen, "listen", listen, "`ADDRESS` to listen on")
	f.StringVar(&p.control, "control", control, "`ADDRESS` to be told on; \"\": nowhere")
	f.StringVar(&p.dir, "dir", dir, "`FOLDER` for certificates and keys; what is there already is used again")
	f.StringVar(&p.behaviour, "behaviour", "", "`FILE` with a behaviour as JSON, as for PUT /-/behaviour; the other "+
		"flags go before what it says")
	f.BoolVar(&p.plain, "plain", false, "no TLS, for measuring")
	f.DurationVar(&p.latency, "latency", 0, "median `TIME` to an answer")
	f.Float64Var(&p.sigma, "sigma", 0, "spread of --latency: 0 is none, 0.8 a heavy tail")
	f.DurationVar(&p.most, "latency-most", 0, "the longest `TIME` to an answer")
	f.IntVar(&p.streams, "streams", farend.DefaultStreams, "streams of a connection; may be 0")
	f.Float64Var(&p.newcomers, "newcomers", 0, "connections let in a second, 0: all")
	f.StringVar(&p.treatment, "newcomers-do", "reset", "what becomes of the others: reset, hang or mix")
	f.IntVar(&p.slowOneIn, "slow-one-in", 0, "one device in `N` answers after --slow")
	f.DurationVar(&p.slow, "slow", 5*time.Second, "`TIME` to an answer for a slow device")
}

// read makes the behaviour of the flags.
func (p *pushFlags) read(cmd *cobra.Command) (farend.Behaviour, error) {
	var b farend.Behaviour
	if p.behaviour != "" {
		text, err := os.ReadFile(p.behaviour)
		if err != nil {
			return b, fmt.Errorf("--behaviour: %w", err)
		}
		if err := json.Unmarshal(text, &b); err != nil {
			return b, fmt.Errorf("--behaviour: %s: %w", p.behaviour, err)
		}
	}
	set := cmd.Flags().Changed
	if set("latency") || set("sigma") || set("latency-most") {
		b.Latency = farend.Latency{Median: farend.Duration(p.latency), Sigma: p.sigma, Most: farend.Duration(p.most)}
	}
	if set("streams") {
		if p.streams < 0 {
			return b, errors.New("--streams cannot be negative")
		}
		b.Streams = farend.Limit(uint32(p.streams))
	}
	if set("newcomers") || set("newcomers-do") {
		b.Newcomers = farend.Newcomers{PerSecond: p.newcomers, Do: farend.Treatment(p.treatment)}
	}
	if p.slowOneIn > 0 {
		b.Devices = append(b.Devices,
			farend.Device{OneIn: p.slowOneIn, Latency: &farend.Latency{Fixed: farend.Duration(p.slow)}})
	}
	return b, nil
}

// farEnd is what all of them have in common. Why something is refused is told on stderr.
func (p *pushFlags) farEnd(cmd *cobra.Command, b farend.Behaviour) farend.Config {
	return farend.Config{Listen: p.listen, Behaviour: b, Trouble: func(line string) {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}}
}

// authority takes up the folder's certificate authority, or makes it. Its key and its certificate stand together in
// authority-key.pem; what clients are to trust stands in authority.pem.
func (p *pushFlags) authority() (*farend.Authority, error) {
	both, err := p.kept("authority-key.pem", func() ([]byte, error) {
		a, err := farend.NewAuthority()
		if err != nil {
			return nil, err
		}
		return append(a.KeyPEM, a.PEM...), nil
	})
	if err != nil {
		return nil, err
	}
	a, err := farend.ReadAuthority(both, both)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path("authority-key.pem"), err)
	}
	cert := both[bytes.Index(both, []byte("-----BEGIN CERTIFICATE")):]
	return a, os.WriteFile(p.path("authority.pem"), cert, 0o644)
}

func (p *pushFlags) path(name string) string { return filepath.Join(p.dir, name) }

// kept reads a file of the folder, or makes it with what fresh returns. Of several who make it at once, all get the
// same.
func (p *pushFlags) kept(name string, fresh func() ([]byte, error)) ([]byte, error) {
	text, err := os.ReadFile(p.path(name))
	if !errors.Is(err, os.ErrNotExist) {
		return text, err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	if text, err = fresh(); err != nil {
		return nil, err
	}
	draft, err := os.CreateTemp(p.dir, name+".*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(text)
	if err = errors.Join(err, draft.Close()); err != nil {
		return nil, err
	}
	switch err := os.Link(draft.Name(), p.path(name)); {
	case errors.Is(err, os.ErrExist):
		return os.ReadFile(p.path(name))
	case err != nil:
		return nil, err
	}
	return text, nil
}

// serveControl serves the control of a far end until ctx ends, and then says what the far end has seen.
func (p *pushFlags) serveControl(ctx context.Context, w io.Writer, s *farend.Server) error {
	if p.control != "" {
		l, err := net.Listen("tcp", p.control)
		if err != nil {
			return fmt.Errorf("--control: %w", err)
		}
		server := &http.Server{Handler: s.Control(), ReadHeaderTimeout: 10 * time.Second}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			server.Serve(l) // returns when it is closed
		}()
		defer func() {
			server.Close()
			<-ended
		}()
		fmt.Fprintf(w, "Told and asked at http://%s/-/behaviour and /-/counts. Ctrl-C ends it.\n", l.Addr())
	}
	<-ctx.Done()
	c := s.Counts()
	fmt.Fprintf(w, "%d requests, %d processed, %d doubles, %d lost answers, %d connections, %d turned away, at most "+
		"%d streams\n",
		c.Requests, c.Accepted, c.Doubles, c.Lost, c.Connections, c.TurnedAway, c.MostStreams)
	return nil
}

// behaviourHelp is the part of the help that the far ends for pushes share.
const behaviourHelp = `
It can be told to misbehave, while clients are connected:

  curl -X PATCH http://%[1]s/-/behaviour -d '{"latency": {"median": "40ms", "sigma": 0.8}}'
  curl -X PATCH http://%[1]s/-/behaviour -d '{"streams": 1}'
  curl -X PATCH http://%[1]s/-/behaviour -d '{"newcomers": {"per_second": 10, "do": "mix"}}'
  curl -X PATCH http://%[1]s/-/behaviour -d '{"faults": [{"do": "goaway", "every": 1000, "unprocessed": 0.5},
       {"do": "refuse", "reason": "%[2]s", "probability": 0.01}]}'
  curl -X PATCH http://%[1]s/-/behaviour -d '{"devices": [{"one_in": 1000, "latency": {"fixed": "5s"}}]}'
  curl -X POST  http://%[1]s/-/goaway?unprocessed=0.5
  curl http://%[1]s/-/counts

A fault is one of: refuse (reason, retry_after), reset_stream (code), reset_connection, goaway (unprocessed), silence, half, slow_read
(for); it befalls a share of the requests (probability), or each nth (every), or the first few (times).`
