package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// How the process before a restart ended.
const (
	startClean  = "clean"  // it was stopped and saved a checkpoint
	startKilled = "killed" // it died without one: its log has to be read
)

// opener starts a store with waiting messages; each run is one start. The files are in the system's cache, as they are after a
// process was started again.
type opener struct {
	home   string // what the process before left behind
	copies bool   // start from a copy each time, since a start after a death repairs what it finds
	depth  int

	rss, heap int64 // of the last start: resident, and heap that the store takes
}

func (o *opener) run(ctx context.Context, _ time.Duration) (s sample, err error) {
	dir := o.home
	if o.copies {
		dir = o.home + "-copy"
		if err := copyFolder(ctx, dir, o.home); err != nil {
			return sample{}, err
		}
		defer func() { err = joinCleanup(err, os.RemoveAll(dir)) }()
	}
	settleMemory()
	before := heapBytes()
	began := time.Now()
	r, err := openRig(ctx, dir)
	if err != nil {
		return sample{}, fmt.Errorf("start with %d waiting messages: %w", o.depth, err)
	}
	s.elapsed = time.Since(began)
	s.calls = []time.Duration{s.elapsed}
	s.n = int64(o.depth)
	o.heap = max(0, heapBytes()-before)
	o.rss = residentBytes()
	stats, err := r.store.Stats(measured)
	if err == nil && stats.Ready != int64(o.depth) {
		err = fmt.Errorf("%d messages are ready after a start, %d were put", stats.Ready, o.depth)
	}
	return s, errors.Join(err, r.close())
}

// sequential is the machine's limit for a start: to read, once and in order, the files that the start needs.
type sequential struct {
	files []string
	depth int
	bytes int64 // of one pass
}

func (q *sequential) run(ctx context.Context, _ time.Duration) (s sample, err error) {
	buffer := make([]byte, 1<<20)
	began := time.Now()
	q.bytes = 0
	for _, name := range q.files {
		n, err := readWhole(ctx, name, buffer)
		if err != nil {
			return sample{}, fmt.Errorf("measure the limit of a start: %w", err)
		}
		q.bytes += n
	}
	s.elapsed = time.Since(began)
	s.calls = []time.Duration{s.elapsed}
	s.n = int64(q.depth)
	return s, nil
}

func readWhole(ctx context.Context, name string, buffer []byte) (n int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
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

// restart measures how long a start takes when so many messages wait.
func (s *session) restart(ctx context.Context, depth int, how string) (err error) {
	home, err := s.leave(ctx, depth, how)
	if err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, os.RemoveAll(filepath.Dir(home))) }()
	prefix := map[string]string{startClean: "checkpoint-", startKilled: ""}[how]
	suffix := map[string]string{startClean: "", startKilled: ".log"}[how]
	names, err := filepath.Glob(filepath.Join(home, prefix+"*"+suffix))
	switch {
	case err != nil:
		return fmt.Errorf("look for what a start reads: %w", err)
	case len(names) == 0:
		return fmt.Errorf("the store left nothing to start from in %s", home)
	}
	if how == startClean {
		names = names[len(names)-1:] // the newest; names rise
	}
	limit := &sequential{depth: depth}
	for _, name := range names {
		kept := filepath.Join(filepath.Dir(home), "limit-"+filepath.Base(name)) // later starts replace the original
		if err := copyFile(ctx, kept, name); err != nil {
			return err
		}
		limit.files = append(limit.files, kept)
	}
	ours := &opener{home: home, copies: how == startKilled, depth: depth}
	p := pacing{pairs: s.starts}
	c, err := p.alternate(ctx, ours, limit, s.step)
	if err != nil {
		return err
	}
	s.rows(c, about{work: "restart", depth: depth, start: how, rss: ours.rss, heapEach: float64(ours.heap) / float64(depth), read: limit.bytes}, nil)
	return nil
}

// leave makes the folder that a store with so many messages leaves behind.
func (s *session) leave(ctx context.Context, depth int, how string) (home string, err error) {
	r, err := newRig(ctx, s.dir, queue.Definition{})
	if err != nil {
		return "", err
	}
	body := makeBody(bodyBytes)
	err = r.fill(ctx, depth, func() message.Message { return message.Message{Body: body} })
	if how == startClean {
		return r.dir, errors.Join(err, r.close())
	}
	// What a killed process leaves is what its files hold while it lives: everything acknowledged, no last checkpoint.
	home = filepath.Join(filepath.Dir(r.dir), "killed")
	if err == nil {
		err = copyFolder(ctx, home, r.dir)
	}
	return home, errors.Join(err, r.close(), os.RemoveAll(r.dir))
}

// copyFolder copies the files of a journal's folder, durably, so that nobody pays later for what was copied. Space that is only set
// aside is left out.
func copyFolder(ctx context.Context, to, from string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), "spare-") {
			continue
		}
		if err := copyFile(ctx, filepath.Join(to, e.Name()), filepath.Join(from, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(ctx context.Context, to, from string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return nil
}
