package publish

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"cloud.google.com/go/pubsub/v2/pstest"

	"github.com/hikyaku/hikyaku/internal/api/pubsub"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The servers of the publish bench.
const (
	serverInstant = "instant" // answers at once
	serverGoogle  = "pstest"  // Google's own for tests, in memory
	serverDurable = "hikyaku" // ours, with every default
)

// sayForget is what the publish bench tells its servers.
const sayForget = "forget"

// Serve serves Pub/Sub on a port of loopback that it finds. It is for a process of its own, which the publish
// bench starts. It writes its address, as a line of JSON, when it listens, and answers each line that it reads from in
// with what its journal has done; of the line "forget" it forgets before what was published, as far as it is a server
// that is not told so by its clients; it ends when in does. args are the flags that the bench gives.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve-publish", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "folder")
	kind := flags.String("kind", "", "of server")
	err := flags.Parse(args)
	if err == nil {
		err = servePublish(ctx, *kind, *dir, in, out)
	}
	if err != nil {
		return fmt.Errorf("serve-publish: %w", err)
	}
	return nil
}

func servePublish(ctx context.Context, kind, dir string, in io.Reader, out io.Writer) (err error) {
	open, ok := map[string]func(ctx context.Context, dir string) (*pubsubServer, error){
		serverInstant: openInstant, serverGoogle: openGoogle, serverDurable: openDurable,
	}[kind]
	if !ok {
		return fmt.Errorf("there is no server %q", kind)
	}
	s, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.listen(in, out)
}

// pubsubServer is a server that listens.
type pubsubServer struct {
	addr   string
	forget func() // what was published
	close  func() error
	stats  func() journal.Stats // nil: it keeps no journal
}

func openInstant(context.Context, string) (*pubsubServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &pubsubServer{addr: l.Addr().String(), forget: func() {}, close: startInstant(l).Close}, nil
}

func openGoogle(context.Context, string) (*pubsubServer, error) {
	s := pstest.NewServer()
	return &pubsubServer{addr: s.Addr, forget: s.ClearMessages, close: s.Close}, nil
}

func openDurable(ctx context.Context, dir string) (*pubsubServer, error) {
	s, err := harness.OpenDoorServer(ctx, dir, harness.Setting{}, func(s *queue.Store) (harness.Door, error) {
		return pubsub.New(pubsub.Config{Listen: "127.0.0.1:0"}, pubsub.Options{Store: s})
	})
	if err != nil {
		return nil, err
	}
	return &pubsubServer{addr: s.Addr, forget: func() {}, close: func() error { return s.Close(ctx) },
		stats: s.Journal.Stats}, nil
}

// listen tells where the server is, and then does what it is told.
func (s *pubsubServer) listen(in io.Reader, out io.Writer) error {
	write := json.NewEncoder(out)
	if err := write.Encode(harness.Served{Addr: s.addr}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var now harness.Served
		if lines.Text() == sayForget {
			s.forget()
		}
		if s.stats != nil {
			now.Journal = s.stats()
		}
		if err := write.Encode(now); err != nil {
			return err
		}
	}
	return lines.Err()
}
