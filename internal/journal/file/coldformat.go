package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	coldSuffix = ".cold"

	originBytes       = 16 // before each head of a moved record
	footerStart       = 8
	footerOriginBytes = 16
	footerRowBytes    = 12

	unitBytes = 64 // sizes of moved records are counted in these
)

// origin is where a moved record was first, and what its address goes on saying.
type origin struct {
	base  journal.Position // of the log segment
	group uint32           // offset of the group in it, in groupAlign
	index uint32           // of the record in the group
}

func originOf(base journal.Position, offset int64, index uint32) origin {
	return origin{base: base, group: uint32(offset / groupAlign), index: index}
}

func (o origin) address() journal.Address {
	return journal.Address{Position: o.base + journal.Position(int64(o.group)*groupAlign), Index: o.index}
}

// slot is the record's place among the rows of its log segment.
func (o origin) slot() uint32 { return uint32(slot(int64(o.group)*groupAlign, o.index)) }

func (o origin) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(o.base))
	b = binary.LittleEndian.AppendUint32(b, o.group)
	return binary.LittleEndian.AppendUint32(b, o.index)
}

func decodeOrigin(b []byte) (origin, error) {
	if len(b) < originBytes {
		return origin{}, fmt.Errorf("%w: a moved record with a head of %d bytes does not say where it comes from",
			errGroup, len(b))
	}
	return origin{
		base:  journal.Position(binary.LittleEndian.Uint64(b)),
		group: binary.LittleEndian.Uint32(b[8:]),
		index: binary.LittleEndian.Uint32(b[12:]),
	}, nil
}

// movedRow says where a moved record is now.
type movedRow struct {
	slot  uint32 // of its origin
	cold  uint32 // number of the cold segment
	group uint32 // offset of its group there, in groupAlign
	index uint16 // in that group
	units uint16 // its size, for choosing what to clean: at most 4 MiB are told
}

func unitsOf(bytes int64) uint16 { return uint16(min((bytes+unitBytes-1)/unitBytes, 1<<16-1)) }

// origins are the records of a cold segment that come from one log segment, by slot.
type origins struct {
	base journal.Position
	rows []movedRow
}

func footerBytes(origins, rows int) int64 {
	return align(int64(groupHeaderBytes + footerStart + origins*footerOriginBytes + rows*footerRowBytes))
}

// encodeFooter lays out the last group of a cold segment. list is in rising order of base.
func encodeFooter(list []origins) []byte {
	rows := 0
	for i := range list {
		rows += len(list[i].rows)
	}
	n := footerBytes(len(list), rows)
	b := make([]byte, groupHeaderBytes, n)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	b = binary.LittleEndian.AppendUint32(b, uint32(rows))
	for i := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(list[i].base))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(list[i].rows)))
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	for i := range list {
		for _, r := range list[i].rows {
			b = binary.LittleEndian.AppendUint32(b, r.slot)
			b = binary.LittleEndian.AppendUint32(b, r.group)
			b = binary.LittleEndian.AppendUint16(b, r.index)
			b = binary.LittleEndian.AppendUint16(b, r.units)
		}
	}
	heads := len(b) - groupHeaderBytes
	b = b[:n]
	binary.LittleEndian.PutUint32(b[24:], uint32(kindFooter))
	binary.LittleEndian.PutUint64(b[32:], uint64(n))
	binary.LittleEndian.PutUint64(b[40:], uint64(heads))
	return b
}

// decodeFooter reads the head of a footer of the cold segment with that number, whose groups end at end.
func decodeFooter(b []byte, number uint32, end int64) ([]origins, error) {
	if len(b) < footerStart {
		return nil, fmt.Errorf("%w: a footer of %d bytes", errGroup, len(b))
	}
	count, rows := int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	if want := footerStart + count*footerOriginBytes + rows*footerRowBytes; int64(len(b)) != want {
		return nil, fmt.Errorf("%w: the footer has %d bytes, %d origins and %d rows need %d", errGroup, len(b), count,
			rows, want)
	}
	all := make([]movedRow, 0, rows)
	list := make([]origins, 0, count)
	heads, b := b[footerStart:footerStart+count*footerOriginBytes], b[footerStart+count*footerOriginBytes:]
	for ; len(heads) > 0; heads = heads[footerOriginBytes:] {
		o := origins{base: journal.Position(binary.LittleEndian.Uint64(heads))}
		n := int64(binary.LittleEndian.Uint32(heads[8:]))
		if n == 0 || n*footerRowBytes > int64(len(b)) || len(list) > 0 && o.base <= list[len(list)-1].base {
			return nil, fmt.Errorf("%w: the footer is out of order at origin %d", errGroup, len(list))
		}
		from := len(all)
		for range n {
			r := movedRow{
				slot:  binary.LittleEndian.Uint32(b),
				cold:  number,
				group: binary.LittleEndian.Uint32(b[4:]),
				index: binary.LittleEndian.Uint16(b[8:]),
				units: binary.LittleEndian.Uint16(b[10:]),
			}
			if at := int64(r.group) * groupAlign; at < segmentHeaderBytes || at >= end || len(all) > from &&
				all[len(all)-1].slot >= r.slot {
				return nil, fmt.Errorf("%w: row %d of the footer is out of place", errGroup, len(all))
			}
			all = append(all, r)
			b = b[footerRowBytes:]
		}
		o.rows = all[from:len(all):len(all)]
		list = append(list, o)
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: the footer has rows without an origin", errGroup)
	}
	return list, nil
}

// moving is a record on its way into a cold segment.
type moving struct {
	from   origin
	record journal.Record // as it was; the body may be damaged
	sum    uint32         // checksum of the body as it was appended
}

// sound says whether the body is what was appended.
func (m *moving) sound() bool { return crc32.Checksum(m.record.Body, castagnoli) == m.sum }

// encodeMoved lays out a group of a cold segment in buf. The bodies keep the checksums that they were appended with:
// one that is damaged stays recognisable.
func encodeMoved(buf []byte, group []moving) []byte {
	records := make([]journal.Record, len(group))
	for i := range group {
		records[i] = group[i].record
		records[i].Head = append(group[i].from.appendTo(make([]byte, 0, originBytes+len(records[i].Head))),
			records[i].Head...)
	}
	buf = encode(buf, kindMoved, records)
	for i := range group {
		binary.LittleEndian.PutUint32(buf[groupHeaderBytes+entryBytes*i+24:], group[i].sum)
	}
	return buf
}

func coldName(dir string, number uint32) string {
	return filepath.Join(dir, fmt.Sprintf("%08x%s", number, coldSuffix))
}

// parseColdName returns the number that a file's name tells.
func parseColdName(name string) (uint32, bool) {
	hex, ok := strings.CutSuffix(name, coldSuffix)
	if !ok || len(hex) != 8 {
		return 0, false
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	return uint32(n), err == nil
}

// coldHeader is the first block of a cold segment.
func coldHeader(number uint32, generation uint64) []byte {
	return encodeFirstBlock(coldMagic, uint64(number), generation, 0)
}

var errColdHeader = errors.New("not the header of this cold segment")

// checkColdHeader verifies the first block of a cold segment.
func checkColdHeader(b []byte, number uint32, generation uint64) error {
	name, got, _, err := decodeFirstBlock(coldMagic, b)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errColdHeader, err)
	case name != uint64(number) || got != generation:
		return fmt.Errorf("%w: it says that it is number %d of generation %016x, the manifest says %d, %016x",
			errColdHeader, name, got, number, generation)
	}
	return nil
}
