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

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// A checkpoint file is a header (magic, version, number, position, checksum, the log's number), the owner's bytes, and
// a trailer (their length, checksum over all before).
const (
	checkpointPrefix  = "checkpoint-"
	checkpointHeader  = 32
	checkpointTrailer = 12
	checkpointsKept   = 2
)

var checkpointMagic = [4]byte{'h', 'k', 'C', 'P'}

// savedCheckpoint is a checkpoint file.
type savedCheckpoint struct {
	checkpointHead
	name    string
	damaged bool
}

// checkpointHead is what the header of a checkpoint says.
type checkpointHead struct {
	number uint64
	at     journal.Position
	log    uint32 // number of the log; 0: of a version that gave none
}

// checkpoints knows the checkpoint files.
type checkpoints struct {
	saving sync.Mutex // one SaveCheckpoint or LoadCheckpoint at a time

	mu   sync.Mutex
	list []savedCheckpoint // newest first
}

// find lists the files that are there. Their headers only are read.
func (c *checkpoints) find(fsys FS, dir string, names []string, l logIdentity) error {
	for _, name := range names {
		number, ok := parseCheckpointName(name)
		if !ok {
			continue
		}
		sc := savedCheckpoint{name: filepath.Join(dir, name)}
		b, err := readFirst(fsys, sc.name, checkpointHeader)
		if missing(err) {
			continue // a journal in use has taken it away
		}
		if err != nil {
			return err
		}
		sc.checkpointHead, err = decodeCheckpointHeader(b, number)
		var format *journal.FormatError
		if err = unsoundIf(sc.name, err); errors.As(err, &format) {
			return format
		}
		sc.damaged = err != nil || l.misfit(sc.checkpointHead) != nil
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

// log is the log's number as the newest checkpoint tells it; 0: none does.
func (c *checkpoints) log() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sc := range c.list {
		if !sc.damaged && sc.log != 0 {
			return sc.log
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

func (h checkpointHead) encode() []byte {
	b := make([]byte, checkpointHeader)
	copy(b, checkpointMagic[:])
	binary.LittleEndian.PutUint32(b[4:], formatVersion)
	binary.LittleEndian.PutUint64(b[8:], h.number)
	binary.LittleEndian.PutUint64(b[16:], uint64(h.at))
	binary.LittleEndian.PutUint32(b[24:], checksum(b[:24]))
	binary.LittleEndian.PutUint32(b[28:], h.log) // the checksum over all has it
	return b
}

// decodeCheckpointHeader reads the header of the checkpoint of a number, which it has also after an error.
func decodeCheckpointHeader(b []byte, number uint64) (checkpointHead, error) {
	h := checkpointHead{number: number}
	switch {
	case len(b) < checkpointHeader:
		return h, fmt.Errorf("the checkpoint has only %d bytes", len(b))
	case [4]byte(b) != checkpointMagic || checksum(b[:24]) != binary.LittleEndian.Uint32(b[24:]):
		return h, errors.New("the header of the checkpoint is damaged")
	case binary.LittleEndian.Uint32(b[4:]) != formatVersion:
		return h, unknownFormat(uint64(binary.LittleEndian.Uint32(b[4:])))
	case binary.LittleEndian.Uint64(b[8:]) != number:
		return h, fmt.Errorf("it says that it is checkpoint %d", binary.LittleEndian.Uint64(b[8:]))
	}
	h.at = journal.Position(binary.LittleEndian.Uint64(b[16:]))
	h.log = binary.LittleEndian.Uint32(b[28:])
	return h, nil
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

// SaveCheckpoint implements journal.Journal. On a full disk the room comes from the reserve, and without handles
// the file.
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
	if uint64(at) > j.durable.Load() {
		return fmt.Errorf("save checkpoint: %w: the disk has no room for the groups before position %d",
			journal.ErrFull, at)
	}
	c.mu.Lock()
	number := uint64(1)
	if len(c.list) > 0 {
		number = c.list[0].number + 1
	}
	c.mu.Unlock()
	name := filepath.Join(j.dir, fmt.Sprintf("%s%016x", checkpointPrefix, number))
	head := checkpointHead{number, at, j.identity().number}
	if err := j.writeCheckpoint(ctx, name, head, write); err != nil {
		err = errors.Join(err, ignoreMissing(j.fs.Remove(name+tmpSuffix)))
		return fmt.Errorf("save checkpoint %s: %w", name, err)
	}
	old := c.add(savedCheckpoint{checkpointHead: head, name: name})
	j.wakeKeeper()
	for _, sc := range old {
		if err := j.fs.Remove(sc.name); err != nil {
			j.opts.Report(fmt.Errorf("remove old checkpoint: %w", err))
		}
	}
	if len(old) > 0 {
		if err := j.lock.SyncDir(); err != nil {
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

func (j *Journal) writeCheckpoint(ctx context.Context, name string, head checkpointHead,
	write func(io.Writer) error) (err error) {
	tmp := name + tmpSuffix
	f, err := j.createCheckpoint(tmp)
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
	if _, err := buffered.Write(head.encode()); err != nil {
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
	j.count.checkpoints.Add(uint64(to.offset))
	open = false
	if err := f.Close(); err != nil {
		return err
	}
	if err := j.fs.Rename(tmp, name); err != nil {
		return err
	}
	return j.lock.SyncDir()
}

// createCheckpoint makes the file, without handles of a spare: checkpoints are what lets segments be reclaimed, with
// their handles. The last spare is left for those who settle.
func (j *Journal) createCheckpoint(name string) (File, error) {
	f, err := j.fs.Create(name)
	if !outOfHandles(err) {
		return f, err
	}
	j.lockWhole()
	j.dropLost()
	n := len(j.spares) - 1
	if n <= 0 {
		j.unlockWhole()
		return nil, err
	}
	sp := j.spares[n]
	j.spares = j.spares[:n]
	j.unlockWhole()
	j.short.Store(true)
	if f, err = j.rename(sp.f, sp.name, name); err != nil {
		return nil, err
	}
	if err = f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
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
		if !durable.Full(err) || !w.j.giveUpSpare() {
			return 0, err
		}
	}
	w.offset += int64(len(b))
	w.sum = crc32.Update(w.sum, castagnoli, b)
	return len(b), nil
}

// giveUpSpare removes a spare to make room for a checkpoint, which is what lets segments be reclaimed. When cleaning
// has the last one it waits: there will be more room.
func (j *Journal) giveUpSpare() bool {
	j.lockWhole()
	if borrowed := j.borrowed; len(j.spares) == 0 && borrowed != nil {
		j.unlockWhole()
		<-borrowed
		return true
	}
	defer j.unlockWhole()
	if len(j.spares) == 0 {
		return false
	}
	i := len(j.spares) - 1
	sp := j.spares[i]
	j.spares = j.spares[:i]
	return errors.Join(sp.f.Close(), j.fs.Remove(sp.name)) == nil
}
