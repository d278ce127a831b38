package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	// A segment's header has a block of its own, so that no write of a group can tear it.
	segmentHeaderBytes = 4096
	formatVersion      = 1
	logSuffix          = ".log"
)

// What a segment begins with, in the log and among the cold ones.
var (
	segmentMagic = [8]byte{'h', 'i', 'k', 'y', 'a', 'k', 'u', 'j'}
	coldMagic    = [8]byte{'h', 'i', 'k', 'y', 'a', 'k', 'u', 'c'}
)

// unknownFormat is the error of whoever reads what a later version wrote. Where it was is added by those who know.
func unknownFormat(found uint64) *journal.FormatError {
	return &journal.FormatError{What: "the journal", Found: found, Oldest: formatVersion, Known: formatVersion}
}

// unsound is damage, unless err says that a later version wrote what is there.
func unsound(name string, offset int64, err error) error {
	var format *journal.FormatError
	if errors.As(err, &format) {
		format.Where = name
		return format
	}
	return damageAt(name, offset, err.Error())
}

// named adds the segment to an error about its format.
func (s *segment) named(err error) error {
	var format *journal.FormatError
	if errors.As(err, &format) {
		format.Where = s.name
	}
	return err
}

// unsoundIf is unsound of an error that may be none.
func unsoundIf(name string, err error) error {
	if err == nil {
		return nil
	}
	return unsound(name, 0, err)
}

// segment is one file of the log, or what is common to it and a cold segment, which has no place in the log: base is 0
// there. What changes after it was opened is guarded by Journal.mu, except where it says so.
type segment struct {
	base       journal.Position
	generation uint64
	name       string // path
	moved      bool   // a cold segment: each head begins with an origin

	use  sync.RWMutex // held for reading around each use of f; gone is set under it
	f    File         // replaced under it when it was written again
	gone error        // why f is closed: errGone, or journal.ErrClosed

	size    int64 // of the file
	end     int64 // offset behind the last group, its end mark included once it is sealed
	written int64 // blocks before this offset have been written once: writing them again is cheap
	zeroing int64 // the keeper writes zeros from here up to written just now; 0 when it does not
	wake    int64 // when end gets there the keeper has to go on with zeros
	ended   bool  // the last group is an end mark
	sealed  bool  // another segment follows

	sealedEnd atomic.Int64 // end once it is sealed, for those who hold no lock
	totals    totals

	live     liveness // guarded by Journal.liveMu, as what follows is
	average  int64    // bytes of a live record, as cleaning found when it looked last; 0 when it did not
	cleaning bool     // its survivors are being copied: nobody else takes it away
	spoiled  bool     // its survivors cannot be copied: it stays until all of them are released
}

// totals describe what was appended to a segment. A sealed one carries them in its last group.
type totals struct {
	groups, records, lasting, lastingBytes uint64

	last journal.Position // of the owner's last group in this segment or before it
}

const totalsBytes = 40

func (t totals) encode() []byte {
	b := make([]byte, totalsBytes)
	binary.LittleEndian.PutUint64(b[0:], t.groups)
	binary.LittleEndian.PutUint64(b[8:], t.records)
	binary.LittleEndian.PutUint64(b[16:], t.lasting)
	binary.LittleEndian.PutUint64(b[24:], t.lastingBytes)
	binary.LittleEndian.PutUint64(b[32:], uint64(t.last))
	return b
}

func decodeTotals(b []byte) (totals, error) {
	if len(b) != totalsBytes {
		return totals{}, fmt.Errorf("%w: totals of %d bytes, not %d", errGroup, len(b), totalsBytes)
	}
	return totals{
		groups:       binary.LittleEndian.Uint64(b[0:]),
		records:      binary.LittleEndian.Uint64(b[8:]),
		lasting:      binary.LittleEndian.Uint64(b[16:]),
		lastingBytes: binary.LittleEndian.Uint64(b[24:]),
		last:         journal.Position(binary.LittleEndian.Uint64(b[32:])),
	}, nil
}

// add counts a group of the owner's.
func (t *totals) add(at journal.Position, entries []entry) {
	t.groups++
	t.records += uint64(len(entries))
	t.last = at
	for i := range entries {
		if entries[i].life == journal.Lasting {
			t.lasting++
			t.lastingBytes += uint64(entries[i].headLen + entries[i].bodyLen)
		}
	}
}

func segmentName(dir string, base journal.Position) string {
	return filepath.Join(dir, fmt.Sprintf("%016x%s", uint64(base), logSuffix))
}

// parseSegmentName returns the base that a file's name tells.
func parseSegmentName(name string) (journal.Position, bool) {
	hex, ok := strings.CutSuffix(name, logSuffix)
	if !ok || len(hex) != 16 {
		return 0, false
	}
	base, err := strconv.ParseUint(hex, 16, 64)
	return journal.Position(base), err == nil
}

// firstBlock is what the first block of a segment says.
type firstBlock struct {
	base       journal.Position
	generation uint64
	last       journal.Position // of the owner's last group before it
	size       int64            // of the file when the segment was begun; 0: it was not written down
}

// segmentHeader is the first block of a segment.
func segmentHeader(h firstBlock) []byte {
	b := encodeFirstBlock(segmentMagic, uint64(h.base), h.generation, uint64(h.last))
	binary.LittleEndian.PutUint64(b[40:], uint64(h.size))
	binary.LittleEndian.PutUint32(b[12:], headerCRC(b))
	return b
}

func encodeFirstBlock(magic [8]byte, name, generation, last uint64) []byte {
	b := make([]byte, segmentHeaderBytes)
	copy(b, magic[:])
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], generation)
	binary.LittleEndian.PutUint64(b[24:], name)
	binary.LittleEndian.PutUint64(b[32:], last)
	binary.LittleEndian.PutUint32(b[12:], headerCRC(b))
	return b
}

func headerCRC(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:segmentHeaderBytes])
}

var errSegment = errors.New("not a sound segment header")

// decodeSegmentHeader reads the first block of a segment.
func decodeSegmentHeader(b []byte) (h firstBlock, err error) {
	name, generation, last, err := decodeFirstBlock(segmentMagic, b)
	if err != nil {
		return h, err
	}
	return firstBlock{journal.Position(name), generation, journal.Position(last),
		int64(binary.LittleEndian.Uint64(b[40:]))}, nil
}

func decodeFirstBlock(magic [8]byte, b []byte) (name, generation, last uint64, err error) {
	if len(b) < segmentHeaderBytes {
		return 0, 0, 0, fmt.Errorf("%w: the file has only %d bytes", errSegment, len(b))
	}
	if [8]byte(b[:8]) != magic {
		return 0, 0, 0, fmt.Errorf("%w: it begins with % x", errSegment, b[:8])
	}
	if got, want := headerCRC(b), binary.LittleEndian.Uint32(b[12:]); got != want {
		return 0, 0, 0, fmt.Errorf("%w: its checksum is %08x, should be %08x", errSegment, got, want)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != formatVersion {
		return 0, 0, 0, unknownFormat(uint64(v))
	}
	return binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[32:]),
		nil
}

// offset is the place in the file of a position.
func (s *segment) offset(p journal.Position) int64 { return int64(p - s.base) }

// reach is the offset behind the last that a group of the segment may have. The next position may be in another
// segment, which is perhaps gone already.
func (s *segment) reach() int64 {
	if end := s.sealedEnd.Load(); end > 0 {
		return end
	}
	return s.size
}

// setSealed says that another segment follows. Journal.segMu is held, but at the start.
func (s *segment) setSealed() {
	s.sealed = true
	s.sealedEnd.Store(s.end)
}

// at is the position of a place in the file.
func (s *segment) at(offset int64) journal.Position { return s.base + journal.Position(offset) }

// readAt fills b from the file. It fails with errGone when the segment was reclaimed, with journal.ErrClosed when the
// journal was closed.
func (s *segment) readAt(b []byte, offset int64) error {
	s.use.RLock()
	defer s.use.RUnlock()
	if s.gone != nil {
		return s.gone
	}
	n, err := s.f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at %d of %s: %w", len(b), offset, s.name, err)
}

// willNeed tells the file system, if it wants to know, what will be read soon.
func (s *segment) willNeed(offset, n int64) {
	s.use.RLock()
	defer s.use.RUnlock()
	if f, ok := s.f.(interface{ WillNeed(offset, n int64) }); ok && s.gone == nil {
		f.WillNeed(offset, n)
	}
}

// sync makes the file durable. A segment that is gone has been synced before.
func (s *segment) sync() error {
	s.use.RLock()
	defer s.use.RUnlock()
	if s.gone != nil {
		return nil
	}
	return s.f.Datasync()
}

// shut closes the file; later uses fail with why.
func (s *segment) shut(why error) error {
	if f := s.leave(why); f != nil {
		return f.Close()
	}
	return nil
}

// leave gives the open file to the caller; later uses fail with why. It is nil when somebody has it already.
func (s *segment) leave(why error) File {
	s.use.Lock()
	defer s.use.Unlock()
	if s.gone != nil {
		return nil
	}
	s.gone = why
	return s.f
}

var errGone = errors.New("segment was reclaimed")

// damage describes unsound bytes of a segment.
func (s *segment) damage(offset int64, what string) *journal.DamageError {
	return damageAt(s.name, offset, what)
}

func damageAt(name string, offset int64, what string) *journal.DamageError {
	return &journal.DamageError{
		Where: fmt.Sprintf("%s, offset %d", name, offset),
		What:  what,
		Hint:  "run: hikyaku journal check " + filepath.Dir(name),
	}
}
