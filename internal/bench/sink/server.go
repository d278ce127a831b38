package sink

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// The kinds of processes of the sink bench.
const (
	kindCourier = "courier"
	kindFake    = "fake"
)

// Serve is what the sink bench runs in processes of their own, so that what each of them costs is known. args are
// the flags that the bench gives.
//
//   - --kind courier: a run of a configuration, whose lines come from in. It writes lines of JSON: one when it begins
//     to read, and one at its end.
//   - --kind fake: a TsurugiDB server for tests. It writes its address first. For each line of in it writes what it was
//     asked for so far; a number is how many of a thousand commits are to fail for a conflict from then on.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("serve-sink", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var f sinkFlags
	flags.StringVar(&f.kind, "kind", "", "what to do")
	flags.StringVar(&f.config, "config", "", "file: the configuration")
	flags.StringVar(&f.dir, "dir", "", "folder")
	flags.IntVar(&f.events, "events", 0, "lines there will be")
	flags.StringVar(&f.times, "times", "", "file: for when each line was read and settled")
	flags.StringVar(&f.profile, "profile", "", "file: for a profile of the processors")
	flags.DurationVar(&f.every, "every", 0, "between lines about how it goes; 0: none")
	flags.StringVar(&f.way, "way", "", "what stands in the place of the sink")
	flags.StringVar(&f.to, "to", "", "database of that")
	flags.StringVar(&f.address, "address", "", "its address")
	flags.StringVar(&f.table, "table", "", "its table")
	flags.IntVar(&f.atOnce, "at-once", 0, "batches at once of that; 0: adaptive")
	err := flags.Parse(args)
	if err == nil {
		switch f.kind {
		case kindCourier:
			err = f.serveCourier(ctx, in, out)
		case kindFake:
			err = serveFake(in, out)
		default:
			err = fmt.Errorf("there is no kind %q", f.kind)
		}
	}
	if err != nil {
		return fmt.Errorf("serve-sink: %w", err)
	}
	return nil
}

type sinkFlags struct {
	kind, config, dir, times, profile string
	way, to, address, table           string
	events, atOnce                    int
	every                             time.Duration
}

// fakeSaid is what a server for tests tells.
type fakeSaid struct {
	Endpoint string            `json:"endpoint"`
	Stats    tsurugitest.Stats `json:"stats"`
}

func serveFake(in io.Reader, out io.Writer) error {
	s, err := tsurugitest.New(tsurugitest.Config{})
	if err != nil {
		return err
	}
	defer s.Close()
	var perMille, commits atomic.Int64
	s.On(func(r tsurugitest.Request) tsurugitest.Action {
		if r.Kind == tsurugitest.Commit && commits.Add(1)*perMille.Load()%1000 < perMille.Load() {
			return tsurugitest.Conflict()
		}
		return tsurugitest.Action{}
	})
	say := json.NewEncoder(out)
	if err := say.Encode(fakeSaid{Endpoint: s.Endpoint()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			n := int64(0)
			if _, err := fmt.Sscan(text, &n); err != nil {
				return fmt.Errorf("conflicts: %w", err)
			}
			perMille.Store(n)
		}
		if err := say.Encode(fakeSaid{s.Endpoint(), s.Stats()}); err != nil {
			return err
		}
	}
	return lines.Err()
}
