package raft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// An entry of raft's log carries a group: formatData, a CRC-32C of what follows, how many records there are, then of
// each its life, queue, sequence, length of head and length of body, then heads and bodies. The checksum is made by the
// owner and looked at by each node before it keeps the entry.
const (
	formatData = 1
	dataHeader = 1 + 4
	// recordMost is the most that a record takes besides its head and body.
	recordMost = 1 + 5*binary.MaxVarintLen64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errEntry = errors.New("entry of the replicated log is damaged")

// encodeGroup makes an entry's data of records.
func encodeGroup(records []journal.Record) []byte {
	n := dataHeader + binary.MaxVarintLen64
	for i := range records {
		n += recordMost + records[i].Size()
	}
	data := make([]byte, dataHeader, n)
	data[0] = formatData
	data = binary.AppendUvarint(data, uint64(len(records)))
	for i := range records {
		r := &records[i]
		data = append(data, byte(r.Life))
		data = binary.AppendUvarint(data, uint64(r.Queue))
		data = binary.AppendUvarint(data, r.Sequence)
		data = binary.AppendUvarint(data, uint64(len(r.Head)))
		data = binary.AppendUvarint(data, uint64(len(r.Body)))
	}
	for i := range records {
		data = append(append(data, records[i].Head...), records[i].Body...)
	}
	binary.LittleEndian.PutUint32(data[1:], crc32.Checksum(data[dataHeader:], castagnoli))
	return data
}

// decodeGroup appends the records of an entry's data to records. Heads and bodies are parts of data.
func decodeGroup(records []journal.Record, data []byte) ([]journal.Record, error) {
	if len(data) < dataHeader || data[0] != formatData {
		return nil, fmt.Errorf("%w: unknown format", errEntry)
	}
	rest := data[dataHeader:]
	if crc32.Checksum(rest, castagnoli) != binary.LittleEndian.Uint32(data[1:]) {
		return nil, fmt.Errorf("%w: wrong checksum", errEntry)
	}
	d := decoder{rest: rest}
	n := d.number()
	if d.bad || n > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: no number of records", errEntry)
	}
	from := len(records)
	sizes := make([][2]uint64, n)
	for i := range sizes {
		r := journal.Record{Life: journal.Life(d.byte()), Queue: uint32(d.number()), Sequence: d.number()}
		sizes[i] = [2]uint64{d.number(), d.number()}
		records = append(records, r)
	}
	for i, size := range sizes {
		records[from+i].Head, records[from+i].Body = d.bytes(size[0]), d.bytes(size[1])
	}
	if d.bad || len(d.rest) != 0 {
		return nil, fmt.Errorf("%w: its records end elsewhere", errEntry)
	}
	return records, nil
}

// decoder takes values from the front of bytes. After the first that is not there it is bad, and gives zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) byte() byte {
	b := d.bytes(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// bytes is nil for none.
func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	if n == 0 {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// What a group of the local journal is. Its first record is a mark that says so.
const (
	markEntry = 1 // an entry: the records of its group follow; of what is not a group the mark has the data as body
	markState = 2 // term and vote
	markKept  = 3 // a record that was live in a checkpoint which came from another node: it follows
	// markCommit says up to which entry the log is on most nodes, when that changes who has the log: else those who
	// have it by now could not elect after a start.
	markCommit = 4
)

// mark is the head of the first record of a group in the local journal.
type mark struct {
	what  byte
	index uint64 // of the entry; of a state the vote
	term  uint64
	base  uint32       // of a kept record: its index in the group it was in
	kind  pb.EntryType // of an entry
	group bool         // the entry carries a group
}

// record is the mark as the first record of a group.
func (m mark) record(body []byte) journal.Record {
	head := make([]byte, 0, 24)
	group := byte(0)
	if m.group {
		group = 1
	}
	head = append(head, m.what, byte(m.kind), group)
	head = binary.AppendUvarint(head, m.index)
	head = binary.AppendUvarint(head, m.term)
	head = binary.AppendUvarint(head, uint64(m.base))
	return journal.Record{Life: journal.Passing, Head: head, Body: body}
}

// markOf reads the mark of a group.
func markOf(g journal.Group) (m mark, err error) {
	if len(g.Records) == 0 {
		return m, fmt.Errorf("%w: group %d is empty", errEntry, g.Position)
	}
	d := decoder{rest: g.Records[0].Head}
	m.what, m.kind, m.group = d.byte(), pb.EntryType(d.byte()), d.byte() == 1
	m.index, m.term, m.base = d.number(), d.number(), uint32(d.number())
	if d.bad || m.what < markEntry || m.what > markCommit {
		return m, fmt.Errorf("%w: group %d of the local journal is none of a replicated log", errEntry, g.Position)
	}
	return m, nil
}
