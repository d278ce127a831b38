package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// sequential is the machine's limit for reading: a file, once and in order.
type sequential struct {
	name     string
	bytes    int64 // of the file
	messages int64 // that it stands for
	cold     bool  // the system has none of it in its cache
}

func (q *sequential) Run(ctx context.Context, _ time.Duration) (s harness.Sample, err error) {
	if q.cold {
		if err := evict(q.name); err != nil {
			return harness.Sample{}, err
		}
	}
	began := time.Now()
	n, err := readWhole(ctx, q.name)
	if err == nil && n != q.bytes {
		err = fmt.Errorf("%s has %d bytes, it had %d", q.name, n, q.bytes)
	}
	if err != nil {
		return harness.Sample{}, fmt.Errorf("measure the limit of reading: %w", err)
	}
	s.Elapsed = time.Since(began)
	s.Calls = []time.Duration{s.Elapsed}
	s.N = q.messages
	return s, nil
}

// readPiece is how much is read at once.
const readPiece = 1 << 20

func readWhole(ctx context.Context, name string) (n int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buffer := make([]byte, readPiece)
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		got, err := f.Read(buffer)
		n += int64(got)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// concatenate writes into a new file, durably, the first n bytes of a journal's checkpoints and log, as often as
// needed; of the newest checkpoint if n is 0. It returns how many it wrote.
func concatenate(ctx context.Context, to, journal string, n int64) (wrote int64, err error) {
	names, err := logOf(journal)
	if err != nil {
		return 0, err
	}
	out, err := os.Create(to)
	if err != nil {
		return 0, fmt.Errorf("make the file for the limit of reading: %w", err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", to, err), os.Remove(to))
		}
	}()
	if n == 0 {
		names = names[:1]
	}
	for i := 0; wrote < n || n == 0 && i == 0; i++ {
		if err := ctx.Err(); err != nil {
			return wrote, err
		}
		got, err := appendFile(out, names[i%len(names)], n-wrote)
		wrote += got
		if err != nil {
			return wrote, err
		}
	}
	return wrote, out.Sync()
}

// logOf lists the files of a journal that a start reads: the newest checkpoint first, then the segments.
func logOf(journal string) ([]string, error) {
	var names []string
	for _, pattern := range []string{"checkpoint-*", "*.log"} {
		some, err := filepath.Glob(filepath.Join(journal, pattern))
		if err != nil {
			return nil, fmt.Errorf("look for what a start reads: %w", err)
		}
		if len(some) > 0 && strings.HasPrefix(pattern, "checkpoint") {
			some = some[len(some)-1:] // names rise
		}
		names = append(names, some...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the store left nothing to start from in %s", journal)
	}
	return names, nil
}

// appendFile copies at most limit bytes of a file; all of it if limit is not positive.
func appendFile(out io.Writer, name string, limit int64) (n int64, err error) {
	in, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if limit <= 0 {
		return io.Copy(out, in)
	}
	n, err = io.CopyN(out, in, limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
