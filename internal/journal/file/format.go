package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	groupAlign       = 64
	groupHeaderBytes = 64
	entryBytes       = 32

	// markBase, mixed with the generation of the segment, begins every group: a search for groups can pass over
	// everything else by looking at four bytes in 64.
	markBase = 0x4b47_4f48
)

// kind says what a group is for.
type kind uint32

const (
	kindRecords kind = 1 // the owner's
	kindSeal    kind = 2 // nothing but its header: it vouches for what lies before it
	kindEnd     kind = 3 // the last of a sealed segment; its head holds totals
	kindHole    kind = 4 // put by Repair where damaged groups were
	kindMoved   kind = 5 // in a cold segment: records that were moved there, each head behind the record's origin
	kindFooter  kind = 6 // the last of a cold segment; its head lists where each record came from
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errGroup is wrapped by every complaint of the decoder.
var errGroup = errors.New("not a sound group")

// header is a decoded group header.
type header struct {
	position  journal.Position
	durable   journal.Position // highest position known to be synced when this group was written
	kind      kind
	count     int   // records
	length    int64 // of the whole group, padded
	headBytes int64 // of all heads
	bodyBytes int64 // of all bodies
	crc       uint32
}

// metaBytes is the length of header, table and heads: what the checksum of the header covers, and all that a walk
// reads.
func (h *header) metaBytes() int64 {
	return groupHeaderBytes + int64(h.count)*entryBytes + h.headBytes
}

// entry is a decoded row of a group's table. Offsets count from the beginning of the group.
type entry struct {
	queue    uint32
	life     journal.Life
	sequence uint64
	head     int64
	headLen  int
	body     int64
	bodyLen  int
	bodyCRC  uint32
}

func (e *entry) headEnd() int64 { return e.head + int64(e.headLen) }
func (e *entry) bodyEnd() int64 { return e.body + int64(e.bodyLen) }

func mark(generation uint64) uint32 { return markBase ^ uint32(generation) ^ uint32(generation>>32) }

func align(n int64) int64 { return (n + groupAlign - 1) &^ (groupAlign - 1) }

// groupBytes is the padded length of a group of these records.
func groupBytes(records []journal.Record) int64 {
	n := int64(groupHeaderBytes + entryBytes*len(records))
	for i := range records {
		n += int64(records[i].Size())
	}
	return align(n)
}

// encode lays records out as a group in buf, which it grows if it has to. What depends on the place of the group is
// left to place, so that the long part of the work needs no lock.
func encode(buf []byte, k kind, records []journal.Record) []byte {
	n := groupBytes(records)
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	var heads, bodies int64
	at := groupHeaderBytes + entryBytes*len(records)
	for i := range records {
		at += copy(buf[at:], records[i].Head)
		heads += int64(len(records[i].Head))
	}
	for i := range records {
		r := &records[i]
		at += copy(buf[at:], r.Body)
		bodies += int64(len(r.Body))
		e := buf[groupHeaderBytes+entryBytes*i:][:entryBytes]
		binary.LittleEndian.PutUint32(e[0:], r.Queue)
		binary.LittleEndian.PutUint32(e[4:], uint32(r.Life))
		binary.LittleEndian.PutUint64(e[8:], r.Sequence)
		binary.LittleEndian.PutUint32(e[16:], uint32(len(r.Head)))
		binary.LittleEndian.PutUint32(e[20:], uint32(len(r.Body)))
		binary.LittleEndian.PutUint32(e[24:], crc32.Checksum(r.Body, castagnoli))
		binary.LittleEndian.PutUint32(e[28:], 0)
	}
	clear(buf[at:])
	clear(buf[:groupHeaderBytes])
	binary.LittleEndian.PutUint32(buf[24:], uint32(k))
	binary.LittleEndian.PutUint32(buf[28:], uint32(len(records)))
	binary.LittleEndian.PutUint64(buf[32:], uint64(n))
	binary.LittleEndian.PutUint64(buf[40:], uint64(heads))
	binary.LittleEndian.PutUint64(buf[48:], uint64(bodies))
	return buf
}

// sealBytes is the length of a seal or end mark.
var sealBytes = align(groupHeaderBytes + totalsBytes)

// encodeSeal lays out a group without records whose head holds totals.
func encodeSeal(k kind, t totals) []byte {
	b := make([]byte, sealBytes)
	copy(b[groupHeaderBytes:], t.encode())
	binary.LittleEndian.PutUint32(b[24:], uint32(k))
	binary.LittleEndian.PutUint64(b[32:], uint64(sealBytes))
	binary.LittleEndian.PutUint64(b[40:], totalsBytes)
	return b
}

// encodeHole lays out a header that covers length bytes which Repair gave up.
func encodeHole(length int64) []byte {
	b := make([]byte, groupHeaderBytes)
	binary.LittleEndian.PutUint32(b[24:], uint32(kindHole))
	binary.LittleEndian.PutUint64(b[32:], uint64(length))
	return b
}

// place completes an encoded group for its place in the log.
func place(buf []byte, generation uint64, position, durable journal.Position) {
	binary.LittleEndian.PutUint32(buf[0:], mark(generation))
	binary.LittleEndian.PutUint64(buf[8:], uint64(position))
	binary.LittleEndian.PutUint64(buf[16:], uint64(durable))
	count := int64(binary.LittleEndian.Uint32(buf[28:]))
	heads := int64(binary.LittleEndian.Uint64(buf[40:]))
	meta := groupHeaderBytes + count*entryBytes + heads
	binary.LittleEndian.PutUint32(buf[4:], metaCRC(generation, buf[:meta]))
}

// metaCRC is the checksum over the generation and all of meta but its mark and checksum.
func metaCRC(generation uint64, meta []byte) uint32 {
	seed := ^uint32(0) // by hand: a slice of the eight bytes would be an allocation a group
	for range 8 {
		seed = castagnoli[byte(seed)^byte(generation)] ^ seed>>8
		generation >>= 8
	}
	return crc32.Update(^seed, castagnoli, meta[8:])
}

// decodeHeader reads the header of the group that should begin at position in a segment of this generation, with room
// bytes up to the end of the segment. The checksum is not verified yet: it needs all of meta.
func decodeHeader(b []byte, generation uint64, position journal.Position, room int64) (header, error) {
	if len(b) < groupHeaderBytes {
		return header{}, fmt.Errorf("%w: %d bytes are left, a header needs %d", errGroup, len(b), groupHeaderBytes)
	}
	if got, want := binary.LittleEndian.Uint32(b), mark(generation); got != want {
		return header{}, fmt.Errorf("%w: it begins with %08x, not with the segment's mark %08x", errGroup, got, want)
	}
	h := header{
		crc:      binary.LittleEndian.Uint32(b[4:]),
		position: journal.Position(binary.LittleEndian.Uint64(b[8:])),
		durable:  journal.Position(binary.LittleEndian.Uint64(b[16:])),
		kind:     kind(binary.LittleEndian.Uint32(b[24:])),
	}
	count := binary.LittleEndian.Uint32(b[28:])
	length := binary.LittleEndian.Uint64(b[32:])
	heads := binary.LittleEndian.Uint64(b[40:])
	bodies := binary.LittleEndian.Uint64(b[48:])
	switch {
	case h.position != position:
		return header{}, fmt.Errorf("%w: it says that it is at position %d, but is at %d", errGroup, h.position,
			position)
	case h.durable >= position:
		return header{}, fmt.Errorf("%w: it vouches for position %d, which is not before it", errGroup, h.durable)
	case length > uint64(room):
		return header{}, fmt.Errorf("%w: its length %d passes the end of the segment, %d bytes on", errGroup, length,
			room)
	case count > maxGroupRecords, heads > length, bodies > length:
		return header{}, fmt.Errorf("%w: %d records with %d + %d bytes do not fit into its length %d", errGroup, count,
			heads, bodies, length)
	}
	h.count, h.length, h.headBytes, h.bodyBytes = int(count), int64(length), int64(heads), int64(bodies)
	want := align(h.metaBytes() + h.bodyBytes)
	if h.kind == kindHole {
		want = h.length
	}
	if h.length != want || h.metaBytes() > h.length || h.length%groupAlign != 0 || h.length < groupHeaderBytes {
		return header{}, fmt.Errorf("%w: its length is %d, its parts need %d", errGroup, h.length, want)
	}
	return h, nil
}

// verifyMeta checks the checksum of meta: header, table and heads. What has a fitting one and is not understood was
// written by a later version: a *journal.FormatError, without its Where.
func (h *header) verifyMeta(meta []byte, generation uint64) error {
	if int64(len(meta)) != h.metaBytes() {
		return fmt.Errorf("%w: %d bytes of %d are there", errGroup, len(meta), h.metaBytes())
	}
	if got := metaCRC(generation, meta); got != h.crc {
		return fmt.Errorf("%w: checksum of header, table and heads is %08x, should be %08x", errGroup, got, h.crc)
	}
	if h.kind < kindRecords || h.kind > kindFooter {
		return laterGroup("its kind %d is not known to this one", h.kind)
	}
	if h.kind != kindRecords && h.kind != kindMoved {
		return nil
	}
	for i := range h.count {
		b := meta[groupHeaderBytes+entryBytes*i:][:entryBytes]
		if life := binary.LittleEndian.Uint32(b[4:]); life > uint32(journal.Lasting) {
			return laterGroup("the life %d of record %d is not known to this one", life, i)
		}
		if more := binary.LittleEndian.Uint32(b[28:]); more != 0 {
			return laterGroup("what else it says of record %d, %#x, is not known to this one", i, more)
		}
	}
	return nil
}

func laterGroup(format string, args ...any) error {
	return &journal.FormatError{What: "a group", Reason: fmt.Sprintf(format, args...)}
}

// decodeTable appends the rows of a verified meta to to. Groups without records of the owner's have none.
func (h *header) decodeTable(meta []byte, to []entry) ([]entry, error) {
	if h.kind != kindRecords && h.kind != kindMoved {
		return to, nil
	}
	head := int64(groupHeaderBytes) + int64(h.count)*entryBytes
	body := head + h.headBytes
	endHeads, endBodies := body, body+h.bodyBytes
	for i := range h.count {
		b := meta[groupHeaderBytes+entryBytes*i:][:entryBytes]
		e := entry{
			queue:    binary.LittleEndian.Uint32(b[0:]),
			life:     journal.Life(b[4]),
			sequence: binary.LittleEndian.Uint64(b[8:]),
			head:     head,
			headLen:  int(binary.LittleEndian.Uint32(b[16:])),
			body:     body,
			bodyLen:  int(binary.LittleEndian.Uint32(b[20:])),
			bodyCRC:  binary.LittleEndian.Uint32(b[24:]),
		}
		head += int64(e.headLen)
		body += int64(e.bodyLen)
		if head > endHeads || body > endBodies {
			return to, fmt.Errorf("%w: record %d is longer than the group has room for", errGroup, i)
		}
		to = append(to, e)
	}
	if head != endHeads || body != endBodies {
		return to, fmt.Errorf("%w: its records are shorter than the group", errGroup)
	}
	return to, nil
}

// verifyBody checks the checksum of a whole body.
func (e *entry) verifyBody(sum uint32) error {
	if sum != e.bodyCRC {
		return fmt.Errorf("checksum of the body is %08x, should be %08x", sum, e.bodyCRC)
	}
	return nil
}
