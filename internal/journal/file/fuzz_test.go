package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const testGeneration = 0x0123_4567_89ab_cdef

// encoded is a group in its place.
func encoded(at journal.Position, records ...journal.Record) []byte {
	b := encode(nil, kindRecords, records)
	place(b, testGeneration, at, at-1)
	return b
}

// decode reads a group as the walker does, from memory.
func decode(b []byte, at journal.Position) (header, []entry, error) {
	h, err := decodeHeader(b, testGeneration, at, int64(len(b)))
	if err != nil {
		return h, nil, err
	}
	meta := b[:h.metaBytes()]
	if err := h.verifyMeta(meta, testGeneration); err != nil {
		return h, nil, err
	}
	entries, err := h.decodeTable(meta, nil)
	return h, entries, err
}

func FuzzDecodeGroup(f *testing.F) {
	f.Add(encoded(64), uint64(64))
	f.Add(encoded(4096, journal.Record{Queue: 1, Life: journal.Lasting, Sequence: 2, Head: []byte("head"),
		Body: []byte("body")}), uint64(4096))
	f.Add(encoded(128, journal.Record{Head: make([]byte, 100)}, journal.Record{Body: make([]byte, 1000)}), uint64(128))
	seal := encodeSeal(kindEnd, totals{groups: 3, last: 7})
	place(seal, testGeneration, 640, 3)
	f.Add(seal, uint64(640))
	hole := encodeHole(640)
	place(hole, testGeneration, 64, 0)
	f.Add(append(hole, make([]byte, 576)...), uint64(64))
	footer := encodeFooter([]origins{{base: 0, rows: []movedRow{{slot: 130, group: 64}}}})
	place(footer, testGeneration, 8192, 0)
	f.Add(footer, uint64(8192))
	moved := encodeMoved(nil,
		[]moving{{from: originOf(0, 4096, 0), record: journal.Record{Life: journal.Lasting, Head: []byte("head"),
			Body: []byte("body")}}})
	place(moved, testGeneration, 4096, 0)
	f.Add(moved, uint64(4096))
	f.Add([]byte(nil), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint64) {
		h, entries, err := decode(b, journal.Position(at))
		if err != nil {
			var later *journal.FormatError
			if !errors.Is(err, errGroup) && !errors.As(err, &later) {
				t.Fatalf("%v does not say that this is no sound group", err)
			}
			// What only lacks its checksum has to be safe to decode all the same.
			if len(b) >= groupHeaderBytes {
				resum(b, at)
				h, entries, err = decode(b, journal.Position(at))
			}
			if err != nil {
				return
			}
		}
		for _, e := range entries {
			if e.head+int64(e.headLen) > h.length || e.body+int64(e.bodyLen) > h.length || e.headLen < 0 ||
				e.bodyLen < 0 {
				t.Fatalf("%+v lies outside of a group of %d bytes", e, h.length)
			}
			if err := e.verifyBody(checksum(b[e.body:][:e.bodyLen])); err != nil {
				return
			}
		}
		if h.kind != kindRecords {
			return
		}
		// What is sound encodes to the same group, but for what the padding holds.
		var records []journal.Record
		for _, e := range entries {
			records = append(records, journal.Record{Queue: e.queue, Life: e.life, Sequence: e.sequence,
				Head: b[e.head:][:e.headLen], Body: b[e.body:][:e.bodyLen]})
		}
		again := encode(nil, kindRecords, records)
		place(again, testGeneration, h.position, h.durable)
		h2, entries2, err := decode(again, h.position)
		if err != nil || len(entries2) != len(entries) || h2.length != h.length {
			t.Fatalf("encoded again: %+v, %v; was %+v", h2, err, h)
		}
	})
}

// resum gives bytes the mark, the position and the checksum that they would have as a sound group.
func resum(b []byte, at uint64) {
	durable := journal.Position(0)
	h, err := decodeHeader(append([]byte(nil), b...), testGeneration, journal.Position(at), int64(len(b)))
	if err == nil && h.metaBytes() <= int64(len(b)) {
		durable = h.durable
		place(b, testGeneration, journal.Position(at), durable)
	}
}

func FuzzDecodeManifest(f *testing.F) {
	for _, m := range []manifest{
		{},
		{turn: 4, log: logIdentity{1 << 31, 1<<63 + 5}},
		{turn: 9, colds: []manifestCold{{number: 1, generation: 5, footer: 4096, end: 8192},
			{number: 1<<32 - 1, generation: 6, footer: 1, end: 2}}},
		{turn: 3, reclaimed: true, clean: true, segments: []manifestSegment{{0, 7, 4096}, {4096, 8, 0}},
			dropped: []manifestSegment{{1, 2, 3}}},
	} {
		f.Add(m.encode())
		f.Add(append(m.encode(), 0, 0, 0))
	}
	f.Add([]byte("hikyaku journal 1\ncrc 00000000\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(b)
		if err != nil {
			if !errors.Is(err, errManifest) {
				t.Fatalf("%v does not say that this is no sound manifest", err)
			}
			return
		}
		again, err := decodeManifest(m.encode())
		if err != nil || !bytes.Equal(again.encode(), m.encode()) {
			t.Fatalf("encoded again: %v, %v", again, err)
		}
	})
}

func TestWriteZerosReachesTheSize(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "zeros"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := writeZeros(f, 100, 3<<20+5); err != nil {
		t.Fatal(err)
	}
	if end, err := f.Seek(0, io.SeekEnd); err != nil || end != 3<<20+5 {
		t.Errorf("%d bytes, %v", end, err)
	}
}
