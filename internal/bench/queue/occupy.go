package queue

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// occupied is what a process takes.
type occupied struct {
	RSS  int64 `json:"rss"`  // bytes that are resident
	Heap int64 `json:"heap"` // bytes that are reachable
}

// occupancy is what the process of Occupy found out of itself.
type occupancy struct {
	Empty   occupied  `json:"empty"`  // with the queue, before anything was put
	Filled  occupied  `json:"filled"` // with all messages waiting
	Indexed *occupied `json:"indexed,omitempty"`
}

// indexedColumns is how many columns are indexed on request.
const indexedColumns = 2

// Occupy lets messages wait in a store in a folder and writes, as JSON, the memory that this process takes then. It is
// for a process of its own, so that nothing else counts, which the memory part of the queue bench starts. args are the
// flags that it gives.
func Occupy(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("occupy", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "folder")
	depth := flags.Int("depth", 0, "messages")
	indexed := flags.Bool("indexed", false, "rows with two indexed columns")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("occupy: %w", err)
	}
	found, err := occupy(ctx, *dir, *depth, *indexed)
	if err != nil {
		return fmt.Errorf("occupy: %w", err)
	}
	return json.NewEncoder(out).Encode(found)
}

func occupy(ctx context.Context, dir string, depth int, indexed bool) (o occupancy, err error) {
	definition := queue.Definition{}
	body := harness.MakeBody(harness.BodyBytes)
	n := int64(0)
	next := func() message.Message { return message.Message{Body: body} }
	if indexed {
		if definition.Columns,
			err = message.ParseColumns([]string{"a BIGINT", "b BIGINT", "body VARBINARY(1024)"}); err != nil {
			return o, err
		}
		value := message.Bytes(body)
		next = func() message.Message {
			n++
			return message.Message{Row: []message.Value{message.Int(n * 7919 % highest), message.Int(n), value}}
		}
	}
	r, err := harness.NewRig(ctx, dir, definition, harness.Setting{})
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o.Empty = occupies()
	if err := r.Fill(ctx, harness.Measured, depth, next); err != nil {
		return o, err
	}
	o.Filled = occupies()
	if indexed {
		if err := buildIndexes(ctx, r); err != nil {
			return o, err
		}
		now := occupies()
		o.Indexed = &now
	}
	st, err := r.Store.Stats(ctx, harness.Measured)
	if err == nil && st.Ready != int64(depth) {
		err = fmt.Errorf("%d messages are ready, %d were put", st.Ready, depth)
	}
	return o, err
}

// buildIndexes asks once for each column, for what there is not.
func buildIndexes(ctx context.Context, r *harness.Rig) error {
	for _, text := range []string{"a < 0", "b < 0"} {
		where, err := r.Store.Parse(ctx, harness.Measured, text)
		if err != nil {
			return err
		}
		claims, err := r.Store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: harness.Measured,
			Where: where}}})
		if err != nil {
			return err
		}
		if len(claims) > 0 {
			return fmt.Errorf("something meets %s, though nothing such was put", text)
		}
	}
	return nil
}

// occupies is what this process takes now that it has given back what it does not need.
func occupies() occupied {
	runtime.GC() // what only finalizers and pools keep goes with the second
	debug.FreeOSMemory()
	return occupied{RSS: machine.ResidentBytes(), Heap: harness.HeapBytes()}
}
