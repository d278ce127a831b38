package file

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// OSFile gives benchmarks the file that journals write.
func OSFile(f *os.File) File { return osFile{f} }

// Moved is a record as it lies in a cold segment.
type Moved struct {
	From  journal.Address
	Group int // number of its group in the file
	Queue uint32
	Seq   uint64

	GroupAt, BodyAt, BodyLen int64 // offsets in the file
}

// MovedIn lists the records of a cold segment in the order of the file, and tells where its footer begins.
func MovedIn(b []byte) (list []Moved, footer int64, err error) {
	_, generation, _, err := decodeFirstBlock(coldMagic, b)
	if err != nil {
		return nil, 0, err
	}
	s := &segment{generation: generation, size: int64(len(b)), f: memory{Reader: bytes.NewReader(b)}}
	w := newWalker(s, segmentHeaderBytes, s.size)
	for n := 0; ; n++ {
		if err := w.next(); err != nil {
			return nil, 0, err
		}
		if w.header.kind == kindFooter {
			return list, w.at(), nil
		}
		for i := range w.entries {
			e := &w.entries[i]
			from, err := decodeOrigin(w.meta[e.head:][:e.headLen])
			if err != nil {
				return nil, 0, fmt.Errorf("record %d: %w", i, err)
			}
			list = append(list, Moved{from.address(), n, e.queue, e.sequence, w.at(), w.at() + e.body,
				int64(e.bodyLen)})
		}
	}
}

// memory is a file in memory, for reading.
type memory struct {
	File
	*bytes.Reader
}

func (m memory) ReadAt(b []byte, offset int64) (int, error) { return m.Reader.ReadAt(b, offset) }
func (m memory) Size() (int64, error)                       { return m.Reader.Size(), nil }

// Resum gives a manifest that was changed the checksum that fits.
func Resum(text string) string {
	body, _, _ := strings.Cut(text, "crc ")
	return body + fmt.Sprintf("crc %08x\n", checksum([]byte(body)))
}

// CheckOn is Check on any file layer.
func CheckOn(ctx context.Context, fsys FS, dir string) (*Report, error) {
	x, err := inspect(ctx, fsys, dir, nil)
	if err != nil {
		return nil, err
	}
	return x.report, nil
}

// LockIn is a lock whose folder is a file system of a test's own.
func LockIn(l Lock, folder FS) Lock { return lockIn{l, folder} }

type lockIn struct {
	Lock
	folder FS
}

func (l lockIn) Folder() FS { return l.folder }

// Look is one look of the watch.
func Look(j *Journal) error { return j.watch.look() }

// ScrubUntil scrubs a journal, round after round, until ctx ends.
func ScrubUntil(ctx context.Context, j *Journal, rate int64) {
	s := &scrubber{j: j, ctx: ctx, fs: newAside(ctx, j.fs, rate, &j.count.scrubbed)}
	for ctx.Err() == nil {
		_ = s.round() // ends with ctx
	}
}
