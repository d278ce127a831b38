package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// small are options for a journal on a faulty disk, with segments so small that everything happens often.
func small(d *faultfs.Disk) file.Options {
	return file.Options{Dir: "log", FS: d, SegmentBytes: 16 << 10, MaxGroupBytes: 1 << 20, IdleSeal: -1}
}

func mustOpen(t *testing.T, o file.Options) *file.Journal {
	t.Helper()
	j, err := file.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return j
}

// abandon ends the goroutines of a journal whose disk was cut, as a kill would.
func abandon(t *testing.T, j *file.Journal, d *faultfs.Disk) {
	t.Helper()
	d.Cut()
	j.Close() //nolint:errcheck // the power is off
}

func appendWait(j journal.Journal, records ...journal.Record) (journal.Position, error) {
	type answer struct {
		p   journal.Position
		err error
	}
	answers := make(chan answer, 1)
	if err := j.Append(records, func(p journal.Position, err error, _ int) { answers <- answer{p, err} }); err != nil {
		return 0, err
	}
	a := <-answers
	return a.p, a.err
}

func mustAppend(t *testing.T, j journal.Journal, records ...journal.Record) journal.Position {
	t.Helper()
	p, err := appendWait(j, records...)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return p
}

// message is a lasting record whose bytes tell its number.
func message(n, size int) journal.Record {
	body := bytes.Repeat(fmt.Appendf(nil, "%d,", n), size)[:size]
	return journal.Record{Queue: 7, Life: journal.Lasting, Sequence: uint64(n), Head: fmt.Appendf(nil, "head of %d", n),
		Body: body}
}

func settle(n int) journal.Record {
	return journal.Record{Queue: 7, Sequence: uint64(n), Head: fmt.Appendf(nil, "settled %d", n)}
}

// content lists everything a journal holds, bodies included, as text. A damaged body is an error.
func content(ctx context.Context, j journal.Journal) (string, error) {
	var b strings.Builder
	var addrs []journal.Address
	for g, err := range j.Scan(ctx, 0) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "group %d\n", g.Position)
		for i := range g.Records {
			addrs = append(addrs, journal.Address{Position: g.Position, Index: uint32(i)})
		}
	}
	var bad []error
	err := j.Read(ctx, addrs, func(i int, r journal.Record, err error) {
		if err != nil {
			bad = append(bad, err)
		}
		fmt.Fprintf(&b, "%v %d %d %d %s %s\n", addrs[i], r.Queue, r.Life, r.Sequence, r.Head, r.Body)
	})
	if err := errors.Join(append(bad, err)...); err != nil {
		return "", err
	}
	at, state, skipped, err := j.LoadCheckpoint(ctx)
	if errors.Is(err, journal.ErrNoCheckpoint) && len(skipped) == 0 {
		return b.String(), nil
	}
	if err := errors.Join(append(slices.Clone(skipped), err)...); err != nil {
		return "", err
	}
	defer state.Close()
	owner, err := io.ReadAll(state)
	fmt.Fprintf(&b, "checkpoint at %d: %s\n", at, owner)
	return b.String(), err
}

func saveCheckpoint(t *testing.T, j journal.Journal, at journal.Position, state string) {
	t.Helper()
	err := j.SaveCheckpoint(t.Context(), at, func(w io.Writer) error {
		_, err := io.WriteString(w, state)
		return err
	})
	if err != nil {
		t.Fatalf("save checkpoint: %v", err)
	}
}

// asDamage returns the *journal.DamageError in err, which must be there and say where.
func asDamage(t *testing.T, err error) *journal.DamageError {
	t.Helper()
	var d *journal.DamageError
	if !errors.As(err, &d) {
		t.Fatalf("%v is not a *journal.DamageError", err)
	}
	if d.Where == "" || d.What == "" || !strings.HasPrefix(d.Hint, "run: hikyaku journal check") {
		t.Fatalf("%+v does not say where, what and what to do", d)
	}
	return d
}

// noRoom is the fault of a disk that has no room for the log while full says so. Half of a write gets there all the
// same.
func noRoom(full *atomic.Bool) func(faultfs.Op) error {
	return func(op faultfs.Op) error {
		if op.Kind == "write" && strings.HasSuffix(op.Name, ".log") && full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}
}
