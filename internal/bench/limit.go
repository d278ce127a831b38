package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// rawBytes is the size of the file that the limit writes to. When its end is reached, writing goes on at its beginning.
const rawBytes = 64 << 20

// rawLog is the machine's limit for durable writes: one writer that writes a piece and syncs it, over and over, into space that was
// written before, so that no sync has anything to change but the piece itself.
type rawLog struct {
	file *os.File
	at   int64

	piece   []byte // written and synced at once
	carries int64  // messages that a piece stands for
}

// newRawLog prepares the file in dir.
func newRawLog(ctx context.Context, dir string) (*rawLog, error) {
	f, err := os.Create(filepath.Join(dir, "limit"))
	if err != nil {
		return nil, fmt.Errorf("make the file for the disk's limit: %w", err)
	}
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < rawBytes && err == nil; at += int64(len(zeros)) {
		if err = ctx.Err(); err == nil {
			_, err = f.WriteAt(zeros, at)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fill the file for the disk's limit with zeros: %w", err), f.Close())
	}
	return &rawLog{file: f}, nil
}

// carry sets what is written at once: n messages of so many bytes each.
func (r *rawLog) carry(n int64, bytesEach float64) error {
	size := int64(float64(n)*bytesEach + 0.5)
	if size <= 0 || size > rawBytes {
		return fmt.Errorf("measure the disk's limit: a piece of %d bytes cannot be written, between 1 and %d can", size, rawBytes)
	}
	r.piece, r.carries = make([]byte, size), n
	for i := range r.piece {
		r.piece[i] = byte(i*7 + 1) // anything but zeros, which a device might treat as nothing
	}
	return nil
}

func (r *rawLog) run(ctx context.Context, d time.Duration) (s sample, err error) {
	began := time.Now()
	for before := began; before.Sub(began) < d; {
		if err := ctx.Err(); err != nil {
			return sample{}, err
		}
		if r.at+int64(len(r.piece)) > rawBytes {
			r.at = 0
		}
		if _, err := r.file.WriteAt(r.piece, r.at); err != nil {
			return sample{}, fmt.Errorf("measure the disk's limit: %w", err)
		}
		if err := datasync(r.file); err != nil {
			return sample{}, fmt.Errorf("measure the disk's limit: %w", err)
		}
		r.at += int64(len(r.piece))
		after := time.Now()
		s.n += r.carries
		s.calls = append(s.calls, after.Sub(before))
		before = after
	}
	s.elapsed = time.Since(began)
	return s, nil
}

func (r *rawLog) close() error { return r.file.Close() }
