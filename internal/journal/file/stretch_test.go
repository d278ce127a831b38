package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// addresses are those of some records of a group.
func addresses(p journal.Position, indexes ...uint32) (addrs []journal.Address) {
	for _, i := range indexes {
		addrs = append(addrs, journal.Address{Position: p, Index: i})
	}
	return addrs
}

func upTo(n int) (indexes []uint32) {
	for i := range n {
		indexes = append(indexes, uint32(i))
	}
	return indexes
}

// wantRecords reads addresses and compares with what was appended, by index in the group.
func wantRecords(t *testing.T, j journal.Journal, put []journal.Record,
	addrs []journal.Address) (got []journal.Record) {
	t.Helper()
	got = make([]journal.Record, len(addrs))
	err := j.Read(t.Context(), addrs, func(i int, r journal.Record, err error) {
		want := put[addrs[i].Index]
		if err != nil || !bytes.Equal(r.Head, want.Head) || !bytes.Equal(r.Body, want.Body) || r.Body == nil ||
			r.Sequence != want.Sequence {
			t.Errorf("record %d: %+v, %v", addrs[i].Index, r, err)
		}
		got[i] = r
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRecordsReadTogetherAreThoseThatWereAsked(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	o.SegmentBytes = 4 << 20
	j := mustOpen(t, o)
	defer j.Close()
	var put []journal.Record
	for i, size := range []int{0, 1, 1000, 0, 20 << 10, 20 << 10, 40 << 10, 100 << 10, 7, 0, 0, 300, 300, 300} {
		put = append(put, message(i, size))
	}
	p := mustAppend(t, j, put...)
	for _, indexes := range [][]uint32{upTo(len(put)), {0, 2, 4, 6, 8}, {13, 12, 11, 3, 2}, {5}, {7, 8},
		{2, 2, 3, 3, 11, 12, 12}, {0}, {9, 10}} {
		wantRecords(t, j, put, addresses(p, indexes...))
	}
}

func TestRecordsReadTogetherAreTheCallers(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	defer j.Close()
	put := []journal.Record{message(1, 100), message(2, 100), message(3, 100)}
	p := mustAppend(t, j, put...)
	addrs := addresses(p, 0, 1, 1, 2)
	got := wantRecords(t, j, put, addrs)
	for _, i := range []int{0, 1} { // the third is the second once more
		for _, b := range [][]byte{got[i].Head, got[i].Body} {
			clear(b)
			_ = append(b, "nobody else's"...)
		}
	}
	for _, i := range []int{2, 3} {
		if want := put[addrs[i].Index]; !bytes.Equal(got[i].Head, want.Head) || !bytes.Equal(got[i].Body, want.Body) {
			t.Errorf("record %d was changed through others: %+v", i, got[i])
		}
	}
	wantRecords(t, j, put, addrs)
}

func TestABatchIsReadInFewAllocations(t *testing.T) {
	j := mustOpen(t, file.Options{Dir: t.TempDir(), SegmentBytes: 4 << 20, Durability: journal.OS})
	defer j.Close()
	const many = 1000
	var put []journal.Record
	for i := range many {
		put = append(put, message(i, 1000))
	}
	addrs := addresses(mustAppend(t, j, put...), upTo(many)...)
	each := func(int, journal.Record, error) {}
	allocations := testing.AllocsPerRun(5, func() {
		if err := j.Read(t.Context(), addrs, each); err != nil {
			t.Error(err)
		}
	})
	if allocations > many/8 {
		t.Errorf("%v allocations for %d records", allocations, many)
	}
}

var errSector = errors.New("this sector cannot be read")

// scratched is a disk of which some bytes of log segments cannot be read.
type scratched struct {
	*faultfs.Disk
	from, to int64
}

func (s *scratched) Create(name string) (file.File, error) {
	f, err := s.Disk.Create(name)
	return &scratchedFile{f, s}, err
}

func (s *scratched) Open(name string, readOnly bool) (file.File, error) {
	f, err := s.Disk.Open(name, readOnly)
	return &scratchedFile{f, s}, err
}

func (s *scratched) Lock(name string) (file.Lock, error) {
	l, err := s.Disk.Lock(name)
	return file.LockIn(l, s), err
}

type scratchedFile struct {
	file.File
	disk *scratched
}

func (f *scratchedFile) ReadAt(b []byte, offset int64) (int, error) {
	if offset < f.disk.to && offset+int64(len(b)) > f.disk.from {
		return 0, errSector
	}
	return f.File.ReadAt(b, offset)
}

func TestABodyThatCannotBeReadCostsNoOther(t *testing.T) {
	d := faultfs.New()
	disk := &scratched{Disk: d}
	o := small(d)
	o.FS, o.SegmentBytes = disk, 4<<20
	j := mustOpen(t, o)
	defer j.Close()
	var put []journal.Record
	for i := range 40 {
		put = append(put, message(i, 5000))
	}
	p := mustAppend(t, j, put...)
	at := int64(bytes.Index(d.Bytes(firstSegment), put[20].Body))
	disk.from, disk.to = at+100, at+101
	var failed []int
	err := j.Read(t.Context(), addresses(p, upTo(len(put))...), func(i int, r journal.Record, err error) {
		switch {
		case errors.Is(err, errSector):
			failed = append(failed, i)
		case err != nil || !bytes.Equal(r.Body, put[i].Body):
			t.Errorf("record %d: %v", i, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{20}; !slices.Equal(failed, want) {
		t.Errorf("%s were not read, want %s", fmt.Sprint(failed), fmt.Sprint(want))
	}
}
