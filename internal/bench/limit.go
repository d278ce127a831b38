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

// rawLog is a file for the machine's limit for durable writes: its space was written before, so that no sync has
// anything to change but what was written since the last one.
type rawLog struct {
	file *os.File
	at   int64
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

func (r *rawLog) close() error { return r.file.Close() }

// write writes a piece behind the one before.
func (r *rawLog) write(piece []byte) error {
	if r.at+int64(len(piece)) > rawBytes {
		r.at = 0
	}
	if _, err := r.file.WriteAt(piece, r.at); err != nil {
		return fmt.Errorf("measure the disk's limit: %w", err)
	}
	r.at += int64(len(piece))
	return nil
}

func (r *rawLog) sync() error {
	if err := datasync(r.file); err != nil {
		return fmt.Errorf("measure the disk's limit: %w", err)
	}
	return nil
}

// rawWriter is one writer that writes a piece and syncs it, over and over.
type rawWriter struct {
	log     *rawLog
	piece   []byte
	carries int64 // messages that a piece stands for
}

// writer returns one that writes n messages of so many bytes each at once.
func (r *rawLog) writer(n int64, bytesEach float64) (*rawWriter, error) {
	size := int64(float64(n)*bytesEach + 0.5)
	if size <= 0 || size > rawBytes {
		return nil, fmt.Errorf("measure the disk's limit: a piece of %d bytes cannot be written, between 1 and %d can",
			size, rawBytes)
	}
	w := &rawWriter{log: r, piece: make([]byte, size), carries: n}
	for i := range w.piece {
		w.piece[i] = byte(i*7 + 1) // anything but zeros, which a device might treat as nothing
	}
	return w, nil
}

// bandwidthPiece is how much is written between two syncs where these should not count.
const bandwidthPiece = 8 << 20

// bandwidth returns a writer that is as fast as the disk takes messages of that size in order.
func (r *rawLog) bandwidth(bytesEach float64) (*rawWriter, error) {
	return r.writer(int64(bandwidthPiece/max(bytesEach, 1)), bytesEach)
}

func (w *rawWriter) run(ctx context.Context, d time.Duration) (s sample, err error) {
	began := time.Now()
	for before := began; before.Sub(began) < d; {
		if err := ctx.Err(); err != nil {
			return sample{}, err
		}
		if err := w.log.write(w.piece); err != nil {
			return sample{}, err
		}
		if err := w.log.sync(); err != nil {
			return sample{}, err
		}
		after := time.Now()
		s.n += w.carries
		s.calls = append(s.calls, after.Sub(before))
		before = after
	}
	s.elapsed = time.Since(began)
	return s, nil
}
