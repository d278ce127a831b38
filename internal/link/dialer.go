package link

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Peer is a node to connect to.
type Peer struct {
	Node    string // its name; "": whoever is at the address
	Address string // host and port
}

// Dialer connects to nodes of a cluster. It may be used from any goroutine.
type Dialer struct {
	cluster, node string
	config        *tls.Config
}

// NewDialer makes one for a node, or for a command, whose Node is "". It takes some ten milliseconds, which whoever
// has a Listener spares. Of the options Listen and Report do nothing.
func NewDialer(o Options) (*Dialer, error) {
	if err := CheckName(o.Cluster); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	who, err := identify(o.Cluster, o.Secret)
	if err != nil {
		return nil, err
	}
	return &Dialer{o.Cluster, o.Node, who.tls()}, nil
}

// Dial opens a stream of a kind. It takes some seconds at most, or as long as ctx lives; the stream outlives ctx. The
// connection has CloseWrite, as those of TCP have. Errors are ErrStranger, ErrRefused, or of the network.
func (d *Dialer) Dial(ctx context.Context, to Peer, kind string) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, strangerTime)
	defer cancel()
	c, err := (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(ctx, "tcp", to.Address)
	if err != nil {
		return nil, d.failed(to, err)
	}
	secure := tls.Client(c, d.config)
	if err := d.greet(ctx, secure, to, kind); err != nil {
		_ = c.Close() // perhaps ctx has closed it
		return nil, d.failed(to, err)
	}
	return secure, nil
}

// Ask sends a node a question as JSON, through a stream of a kind, and reads into told what comes back, which may have
// so many bytes. The errors are those of Dial, or that the node does not answer.
func (d *Dialer) Ask(ctx context.Context, node Peer, kind string, question, told any, most int64) error {
	c, err := d.Dial(ctx, node, kind)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if err = json.NewEncoder(c).Encode(question); err == nil {
		err = json.NewDecoder(io.LimitReader(c, most)).Decode(told)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("node %s does not answer: %w", node.Node, err)
	}
	return nil
}

func (d *Dialer) failed(to Peer, err error) error {
	name := to.Address
	if to.Node != "" {
		name = to.Node + " at " + name
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
	}
	return fmt.Errorf("connect to node %s: %w", name, err)
}

// greet proves who both are, and says what the stream is for.
func (d *Dialer) greet(ctx context.Context, c *tls.Conn, to Peer, kind string) error {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // a closed one needs none
	defer stop()
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	h := hello{d.cluster, d.node, kind}
	if _, err := c.Write(h.bytes()); err != nil {
		return err
	}
	a, err := readAnswer(c)
	var alert *net.OpError
	switch {
	case errors.As(err, &alert) && alert.Op == "remote error":
		// In TLS 1.3 the one who connects hears only now that it is not known.
		return fmt.Errorf("%w: %w", ErrStranger, err)
	case err != nil:
		return err
	case a.reason != "":
		return fmt.Errorf("%w: %s", ErrRefused, a.reason)
	case to.Node != "" && a.node != to.Node:
		return fmt.Errorf("%w: at this address is node %s", ErrRefused, a.node)
	}
	if !stop() {
		return ctx.Err()
	}
	return nil
}
