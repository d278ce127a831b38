package harness

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

// RawLog is a file for the machine's limit for durable writes: its space was written before, so that no sync has
// anything to change but what was written since the last one.
type RawLog struct {
	file *os.File
	At   int64
}

// NewRawLog prepares the file in dir.
func NewRawLog(ctx context.Context, dir string) (*RawLog, error) {
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
	return &RawLog{file: f}, nil
}

// Close closes the file, which stays.
func (r *RawLog) Close() error { return r.file.Close() }

// Write writes a piece behind the one before.
func (r *RawLog) Write(piece []byte) error {
	if r.At+int64(len(piece)) > rawBytes {
		r.At = 0
	}
	if _, err := r.file.WriteAt(piece, r.At); err != nil {
		return fmt.Errorf("measure the disk's limit: %w", err)
	}
	r.At += int64(len(piece))
	return nil
}

// Sync makes durable what was written.
func (r *RawLog) Sync() error {
	if err := datasync(r.file); err != nil {
		return fmt.Errorf("measure the disk's limit: %w", err)
	}
	return nil
}

// RawWriter is one writer that writes a piece and syncs it, over and over.
type RawWriter struct {
	Log     *RawLog
	Piece   []byte
	Carries int64 // messages that a piece stands for
}

// Writer returns one that writes n messages of so many bytes each at once.
func (r *RawLog) Writer(n int64, bytesEach float64) (*RawWriter, error) {
	size := int64(float64(n)*bytesEach + 0.5)
	if size <= 0 || size > rawBytes {
		return nil, fmt.Errorf("measure the disk's limit: a piece of %d bytes cannot be written, between 1 and %d can",
			size, rawBytes)
	}
	w := &RawWriter{Log: r, Piece: make([]byte, size), Carries: n}
	for i := range w.Piece {
		w.Piece[i] = byte(i*7 + 1) // anything but zeros, which a device might treat as nothing
	}
	return w, nil
}

// BandwidthPiece is how much is written between two syncs where these should not count.
const BandwidthPiece = 8 << 20

// Bandwidth returns a writer that is as fast as the disk takes messages of that size in order.
func (r *RawLog) Bandwidth(bytesEach float64) (*RawWriter, error) {
	return r.Writer(int64(BandwidthPiece/max(bytesEach, 1)), bytesEach)
}

func (w *RawWriter) Run(ctx context.Context, d time.Duration) (s Sample, err error) {
	began := time.Now()
	for before := began; before.Sub(began) < d; {
		if err := ctx.Err(); err != nil {
			return Sample{}, err
		}
		if err := w.Log.Write(w.Piece); err != nil {
			return Sample{}, err
		}
		if err := w.Log.Sync(); err != nil {
			return Sample{}, err
		}
		after := time.Now()
		s.N += w.Carries
		s.Calls = append(s.Calls, after.Sub(before))
		before = after
	}
	s.Elapsed = time.Since(began)
	return s, nil
}
