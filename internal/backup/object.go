package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hikyaku/hikyaku/internal/durable"
)

// piece is how much is copied at once, and between two looks whether to go on.
const piece = 1 << 20

// Problem is a file of a backup that is not what was written.
type Problem struct {
	File string   // in the folder of backups
	Of   []string // whose contents it has: paths in the data_dir
	What string
}

func (p *Problem) String() string { return fmt.Sprintf("%s (%s): %s", p.File, firstOf(p.Of), p.What) }

func firstOf(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// errShort says that a file has fewer bytes than it should.
var errShort = errors.New("it is shorter than it was")

// copyOf writes n bytes of r, reads them back and returns their checksum. to is closed, and gone after an error.
func copyOf(ctx context.Context, path string, r io.Reader, n int64, told func(int64)) (sum string, err error) {
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	err = pour(ctx, io.MultiWriter(to, h), r, n, told)
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		sum = hex.EncodeToString(h.Sum(nil))
		var back string
		if back, err = sumOfFile(ctx, path, n, nil); err == nil && back != sum {
			err = fmt.Errorf("%s: what was read back is not what was written: the disk cannot be trusted", path)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return sum, nil
}

// pour copies n bytes.
func pour(ctx context.Context, w io.Writer, r io.Reader, n int64, told func(int64)) error {
	buf := make([]byte, min(piece, n))
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), n)]
		if _, err := io.ReadFull(r, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errShort
		} else if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		n -= int64(len(b))
		if told != nil {
			told(int64(len(b)))
		}
	}
	return nil
}

// sumOfFile is the checksum of a file of n bytes.
func sumOfFile(ctx context.Context, path string, n int64, told func(int64)) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	if st.Size() > n {
		return "", fmt.Errorf("it has %d bytes, it had %d", st.Size(), n)
	}
	h := sha256.New()
	if err := pour(ctx, h, f, n, told); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// keep copies n bytes of r into the folder, and returns their checksum. Where they are there already they are written
// again: what is there may have been damaged.
func (f *Folder) keep(ctx context.Context, r io.Reader, n int64, told func(int64)) (sum string, err error) {
	path := f.object("copy" + durable.Unfinished)
	if sum, err = copyOf(ctx, path, r, n, told); err != nil {
		return "", err
	}
	return sum, os.Rename(path, f.object(sum))
}

// wrong says what is wrong with a file of the folder; "": nothing is.
func (f *Folder) wrong(ctx context.Context, e *File, told func(int64)) (string, error) {
	sum, err := sumOfFile(ctx, f.object(e.SHA256), e.Bytes, told)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return "it is missing", nil
	case err != nil:
		return err.Error(), nil
	case sum != e.SHA256:
		return "its checksum is " + sum + ": it was changed since it was written", nil
	}
	return "", nil
}
