package file

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// A checkpoint file is a header (magic, version, number, position, checksum), the owner's bytes, and a trailer (their
// length, checksum over all before).
const (
	checkpointPrefix  = "checkpoint-"
	checkpointHeader  = 32
	checkpointTrailer = 12
	checkpointsKept   = 2
)

var checkpointMagic = [4]byte{'h', 'k', 'C', 'P'}

// savedCheckpoint is a checkpoint file.
type savedCheckpoint struct {
	number  uint64
	at      journal.Position
	name    string
	damaged bool
}

// checkpoints knows the checkpoint files.
type checkpoints struct {
	saving sync.Mutex // one SaveCheckpoint at a time

	mu   sync.Mutex
	list []savedCheckpoint // newest first
}

// find lists the files that are there. Their headers only are read.
func (c *checkpoints) find(fsys FS, dir string, names []string) error {
	for _, name := range names {
		number, ok := parseCheckpointName(name)
		if !ok {
			continue
		}
		sc := savedCheckpoint{number: number, name: filepath.Join(dir, name)}
		b, err := readFirst(fsys, sc.name, checkpointHeader)
		if err != nil {
			return err
		}
		if sc.at, err = decodeCheckpointHeader(b, number); err != nil {
			sc.damaged = true
		}
		c.list = append(c.list, sc)
	}
	slices.SortFunc(c.list, func(a, b savedCheckpoint) int {
		if a.number > b.number {
			return -1
		}
		return 1
	})
	return nil
}

// newest is the position of the newest checkpoint not known to be damaged, 0 without one.
func (c *checkpoints) newest() journal.Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sc := range c.list {
		if !sc.damaged {
			return sc.at
		}
	}
	return 0
}

// horizon is the position of the older of the two checkpoints that are kept.
func (c *checkpoints) horizon() (journal.Position, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sound := 0
	for _, sc := range c.list {
		if sc.damaged {
			continue
		}
		if sound++; sound == checkpointsKept {
			return sc.at, true
		}
	}
	return 0, false
}

func parseCheckpointName(name string) (uint64, bool) {
	hex, ok := strings.CutPrefix(name, checkpointPrefix)
	if !ok || len(hex) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(hex, 16, 64)
	return n, err == nil
}

func encodeCheckpointHeader(number uint64, at journal.Position) []byte {
	b := make([]byte, checkpointHeader)
	copy(b, checkpointMagic[:])
	binary.LittleEndian.PutUint32(b[4:], formatVersion)
	binary.LittleEndian.PutUint64(b[8:], number)
	binary.LittleEndian.PutUint64(b[16:], uint64(at))
	binary.LittleEndian.PutUint32(b[24:], checksum(b[:24]))
	return b
}

func decodeCheckpointHeader(b []byte, number uint64) (journal.Position, error) {
	switch {
	case len(b) < checkpointHeader:
		return 0, fmt.Errorf("the checkpoint has only %d bytes", len(b))
	case [4]byte(b) != checkpointMagic || checksum(b[:24]) != binary.LittleEndian.Uint32(b[24:]) || binary.LittleEndian.Uint32(b[28:]) != 0:
		return 0, errors.New("the header of the checkpoint is damaged")
	case binary.LittleEndian.Uint32(b[4:]) != formatVersion:
		return 0, fmt.Errorf("format version %d, this program knows %d", binary.LittleEndian.Uint32(b[4:]), formatVersion)
	case binary.LittleEndian.Uint64(b[8:]) != number:
		return 0, fmt.Errorf("it says that it is checkpoint %d", binary.LittleEndian.Uint64(b[8:]))
	}
	return journal.Position(binary.LittleEndian.Uint64(b[16:])), nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func readFirst(fsys FS, name string, n int) ([]byte, error) {
	f, err := fsys.Open(name, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	got, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:got], nil
}

// SaveCheckpoint implements journal.Journal. On a full disk the room comes from the reserve.
func (j *Journal) SaveCheckpoint(ctx context.Context, at journal.Position, write func(io.Writer) error) error {
	if err := j.usable(); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	if end := j.End(); at > end {
		return fmt.Errorf("save checkpoint: position %d is behind the end of the log, %d", at, end)
	}
	c := &j.checkpoints
	c.saving.Lock()
	defer c.saving.Unlock()
	// Whatever the durability: a checkpoint must not outlive the groups it speaks of.
	if err := j.syncLog(); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	c.mu.Lock()
	number := uint64(1)
	if len(c.list) > 0 {
		number = c.list[0].number + 1
	}
	c.mu.Unlock()
	name := filepath.Join(j.dir, fmt.Sprintf("%s%016x", checkpointPrefix, number))
	if err := j.writeCheckpoint(ctx, name, number, at, write); err != nil {
		err = errors.Join(err, ignoreMissing(j.fs.Remove(name+tmpSuffix)))
		return fmt.Errorf("save checkpoint %s: %w", name, err)
	}
	old := c.add(savedCheckpoint{number: number, at: at, name: name})
	j.wakeKeeper()
	for _, sc := range old {
		if err := j.fs.Remove(sc.name); err != nil {
			j.opts.Report(fmt.Errorf("remove old checkpoint: %w", err))
		}
	}
	if len(old) > 0 {
		if err := j.fs.SyncDir(j.dir); err != nil {
			j.opts.Report(fmt.Errorf("remove old checkpoint: %w", err))
		}
	}
	return nil
}

// add puts a new checkpoint into the list and returns those that need not be kept any more.
func (c *checkpoints) add(sc savedCheckpoint) (old []savedCheckpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.Insert(c.list, 0, sc)
	sound := 0
	for i, sc := range c.list {
		if !sc.damaged {
			sound++
		}
		if sound == checkpointsKept {
			old = slices.Clone(c.list[i+1:])
			c.list = slices.Clip(c.list[:i+1])
			return old
		}
	}
	return nil
}

func (j *Journal) writeCheckpoint(ctx context.Context, name string, number uint64, at journal.Position, write func(io.Writer) error) (err error) {
	tmp := name + tmpSuffix
	f, err := j.fs.Create(tmp)
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, f.Close())
		}
	}()
	to := &checkpointWriter{ctx: ctx, j: j, f: f}
	buffered := bufio.NewWriterSize(to, 256<<10)
	header := encodeCheckpointHeader(number, at)
	if _, err := buffered.Write(header); err != nil {
		return err
	}
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	trailer := binary.LittleEndian.AppendUint64(nil, uint64(to.offset-checkpointHeader))
	trailer = binary.LittleEndian.AppendUint32(trailer, crc32.Update(to.sum, castagnoli, trailer))
	if _, err := to.Write(trailer); err != nil {
		return err
	}
	if err := f.Datasync(); err != nil {
		return err
	}
	open = false
	if err := f.Close(); err != nil {
		return err
	}
	if err := j.fs.Rename(tmp, name); err != nil {
		return err
	}
	return j.fs.SyncDir(j.dir)
}

// checkpointWriter writes a file from its beginning. When the disk is full it gives up spares, one after the other.
type checkpointWriter struct {
	ctx    context.Context
	j      *Journal
	f      File
	offset int64
	sum    uint32
}

func (w *checkpointWriter) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	for {
		_, err := w.f.WriteAt(b, w.offset)
		if err == nil {
			break
		}
		if !fullError(err) || !w.j.giveUpSpare() {
			return 0, err
		}
	}
	w.offset += int64(len(b))
	w.sum = crc32.Update(w.sum, castagnoli, b)
	return len(b), nil
}

// giveUpSpare removes a spare to make room for a checkpoint, which is what lets segments be reclaimed.
func (j *Journal) giveUpSpare() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.spares) == 0 {
		return false
	}
	i := len(j.spares) - 1
	if err := j.fs.Remove(j.spares[i].name); err != nil {
		return false
	}
	j.spares = j.spares[:i]
	return true
}

// LoadCheckpoint implements journal.Journal.
func (j *Journal) LoadCheckpoint(ctx context.Context) (journal.Position, io.ReadCloser, []error, error) {
	if err := j.readable(); err != nil {
		return 0, nil, nil, fmt.Errorf("load checkpoint: %w", err)
	}
	c := &j.checkpoints
	c.mu.Lock()
	list := slices.Clone(c.list)
	c.mu.Unlock()
	var skipped []error
	for _, sc := range list {
		at, r, err := openCheckpoint(ctx, j.fs, sc)
		if err == nil {
			return at, r, skipped, nil
		}
		var damage *journal.DamageError
		if !errors.As(err, &damage) {
			return 0, nil, skipped, fmt.Errorf("load checkpoint %s: %w", sc.name, err)
		}
		skipped = append(skipped, damage)
		c.mu.Lock()
		for i := range c.list {
			if c.list[i].number == sc.number {
				c.list[i].damaged = true
			}
		}
		c.mu.Unlock()
	}
	j.manifestMu.Lock()
	reclaimed := j.manifest.reclaimed
	j.manifestMu.Unlock()
	if reclaimed {
		what := "there is no checkpoint, and the beginning of the log was reclaimed"
		if len(skipped) > 0 {
			what = fmt.Sprintf("every checkpoint is damaged, and the beginning of the log was reclaimed: %v", errors.Join(skipped...))
		}
		return 0, nil, skipped, damageAt(filepath.Join(j.dir, checkpointPrefix+"*"), 0, what)
	}
	return 0, nil, skipped, journal.ErrNoCheckpoint
}

// openCheckpoint verifies a whole checkpoint and returns a reader of the owner's bytes.
func openCheckpoint(ctx context.Context, fsys FS, sc savedCheckpoint) (journal.Position, io.ReadCloser, error) {
	f, err := fsys.Open(sc.name, true)
	if missing(err) {
		return 0, nil, damageAt(sc.name, 0, "the checkpoint is missing")
	}
	if err != nil {
		return 0, nil, err
	}
	at, length, err := verifyCheckpoint(ctx, f, sc)
	if err != nil {
		return 0, nil, errors.Join(err, f.Close())
	}
	return at, struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, checkpointHeader, length), f}, nil
}

func verifyCheckpoint(ctx context.Context, f File, sc savedCheckpoint) (at journal.Position, length int64, err error) {
	size, err := f.Size()
	if err != nil {
		return 0, 0, err
	}
	if size < checkpointHeader+checkpointTrailer {
		return 0, 0, damageAt(sc.name, 0, fmt.Sprintf("the checkpoint has only %d bytes", size))
	}
	buf := make([]byte, 256<<10)
	sum := uint32(0)
	end := size - checkpointTrailer
	for offset := int64(0); offset < size; {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		b := buf
		if offset < end {
			b = b[:min(int64(len(b)), end-offset)]
		} else {
			b = b[:checkpointTrailer]
		}
		if n, err := f.ReadAt(b, offset); err != nil && n < len(b) {
			return 0, 0, fmt.Errorf("read %d bytes at %d: %w", len(b), offset, err)
		}
		if offset == 0 {
			if at, err = decodeCheckpointHeader(b, sc.number); err != nil {
				return 0, 0, damageAt(sc.name, 0, err.Error())
			}
		}
		if offset < end {
			sum = crc32.Update(sum, castagnoli, b)
		} else {
			sum = crc32.Update(sum, castagnoli, b[:8])
			length = int64(binary.LittleEndian.Uint64(b))
			if got := binary.LittleEndian.Uint32(b[8:]); got != sum || length != end-checkpointHeader {
				return 0, 0, damageAt(sc.name, offset, fmt.Sprintf("the checksum of the checkpoint is %08x, should be %08x", sum, got))
			}
		}
		offset += int64(len(b))
	}
	return at, length, nil
}
