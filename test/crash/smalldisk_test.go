//go:build linux

package crash

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const smallDisk = 40 << 20

// TestServeWorksOnADiskOf40MB: it starts, fills the disk, is drained, and then takes several times what the disk holds,
// beside a queue that nobody reads.
func TestServeWorksOnADiskOf40MB(t *testing.T) {
	t.Parallel()
	dir, ok := ownDisk(t, smallDisk)
	if !ok {
		return
	}
	data := filepath.Join(dir, "data")
	s := serve(t, preamble(data))
	put := fill(t, s, 0)
	if put < 10 {
		t.Errorf("only %d parcels of 1 MiB fitted on %d MiB", put, smallDisk>>20)
	}
	s.kill()
	s = serve(t, preamble(data))
	if got := drain(t, s, put); got != put {
		t.Errorf("%d of %d were drained", got, put)
	}
	waits, parcels := 0, 100
	if *times > 1 {
		parcels = 400
	}
	for n := range parcels {
		until(t, says("parcel %d is taken", n), func() bool {
			_, err := s.client.Put(t.Context(), queueName("parcels"), bigMessage(n))
			if err != nil && !errors.Is(err, queue.ErrNoRoom) {
				t.Fatalf("%v\n%s", err, s.log())
			}
			if err != nil {
				waits++
			}
			return err == nil
		})
		drain(t, s, 1)
		if n%4 == 0 {
			s.put(t, "stuck", fmt.Sprintf("%d %s", n, strings.Repeat("x", 20_000)))
		}
	}
	stuck, err := s.client.Peek(t.Context(), queueName("stuck"), httpdoor.PeekRequest{Max: 200})
	if err != nil || len(stuck) != parcels/4 {
		t.Errorf("%d messages are left in the queue that nobody reads: %v", len(stuck), err)
	}
	t.Logf("%d parcels fitted; a put was refused %d times while %d MiB went through", put, waits, parcels)
	s.stop(t)
	checkJournal(t, data)
}

func TestRunWorksOnADiskOf40MB(t *testing.T) {
	t.Parallel()
	dir, ok := ownDisk(t, smallDisk)
	if !ok {
		return
	}
	config, data := filepath.Join(t.TempDir(), "run.yaml"), filepath.Join(dir, "data")
	write(t, config, "data_dir: "+data+"\nsources: { lines: { type: stdin } }\nsinks: { keep: { type: queue, inputs: "+
		"[lines], queue: letters } }\n")
	if r := hikyaku(t, strings.Repeat("a letter of some length\n", 20_000), "run", "-c", config); r.code != 0 {
		t.Errorf("%+v", r)
	}
	checkJournal(t, data)
}
