package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// LoadCheckpoint implements journal.Journal.
func (j *Journal) LoadCheckpoint(ctx context.Context) (journal.Position, io.ReadCloser, []error, error) {
	if err := j.readable(0); err != nil {
		return 0, nil, nil, fmt.Errorf("load checkpoint: %w", err)
	}
	c := &j.checkpoints
	c.saving.Lock() // a save removes old ones
	defer c.saving.Unlock()
	list := c.kept()
	log := j.identity()
	var skipped []error
	for _, sc := range list {
		at, r, err := openCheckpoint(ctx, j.fs, sc, log)
		if err == nil {
			return at, r, skipped, nil
		}
		var damage *journal.DamageError
		if !errors.As(err, &damage) {
			return 0, nil, skipped, fmt.Errorf("load checkpoint %s: %w", sc.name, err)
		}
		skipped = append(skipped, damage)
		c.spoil(sc.number)
	}
	j.manifestMu.Lock()
	reclaimed := j.manifest.reclaimed
	j.manifestMu.Unlock()
	if reclaimed {
		what := "there is no checkpoint, and the beginning of the log was reclaimed"
		if len(skipped) > 0 {
			what = fmt.Sprintf("every checkpoint is damaged, and the beginning of the log was reclaimed: %v",
				errors.Join(skipped...))
		}
		return 0, nil, skipped, damageAt(filepath.Join(j.dir, checkpointPrefix+"*"), 0, what)
	}
	return 0, nil, skipped, journal.ErrNoCheckpoint
}

// openCheckpoint verifies a whole checkpoint of a log and returns a reader of the owner's bytes.
func openCheckpoint(ctx context.Context, fsys FS, sc savedCheckpoint, log logIdentity) (journal.Position,
	io.ReadCloser, error) {
	f, err := fsys.Open(sc.name, true)
	if missing(err) {
		return 0, nil, damageAt(sc.name, 0, "the checkpoint is missing")
	}
	if err != nil {
		return 0, nil, err
	}
	head, length, err := verifyCheckpoint(ctx, f, sc)
	if err == nil {
		if why := log.misfit(head); why != nil {
			err = damageAt(sc.name, 0, why.Error())
		}
	}
	if err != nil {
		return 0, nil, errors.Join(err, f.Close())
	}
	return head.at, struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, checkpointHeader, length), f}, nil
}

func verifyCheckpoint(ctx context.Context, f File, sc savedCheckpoint) (head checkpointHead, length int64, err error) {
	size, err := f.Size()
	if err != nil {
		return head, 0, err
	}
	if size < checkpointHeader+checkpointTrailer {
		return head, 0, damageAt(sc.name, 0, fmt.Sprintf("the checkpoint has only %d bytes", size))
	}
	buf := make([]byte, 256<<10)
	sum := uint32(0)
	end := size - checkpointTrailer
	for offset := int64(0); offset < size; {
		if err := ctx.Err(); err != nil {
			return head, 0, err
		}
		b := buf
		if offset < end {
			b = b[:min(int64(len(b)), end-offset)]
		} else {
			b = b[:checkpointTrailer]
		}
		if n, err := f.ReadAt(b, offset); err != nil && n < len(b) {
			return head, 0, fmt.Errorf("read %d bytes at %d: %w", len(b), offset, err)
		}
		if offset == 0 {
			if head, err = decodeCheckpointHeader(b, sc.number); err != nil {
				return head, 0, unsound(sc.name, 0, err)
			}
		}
		if offset < end {
			sum = crc32.Update(sum, castagnoli, b)
		} else {
			sum = crc32.Update(sum, castagnoli, b[:8])
			length = int64(binary.LittleEndian.Uint64(b))
			if got := binary.LittleEndian.Uint32(b[8:]); got != sum || length != end-checkpointHeader {
				return head, 0, damageAt(sc.name, offset,
					fmt.Sprintf("the checksum of the checkpoint is %08x, should be %08x", sum, got))
			}
		}
		offset += int64(len(b))
	}
	return head, length, nil
}
