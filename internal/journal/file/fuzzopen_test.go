package file_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// FuzzOpenSegment writes anything anywhere into the newest segment of a journal whose process died. Opening, scanning
// and reading then work or say where the damage is.
func FuzzOpenSegment(f *testing.F) {
	d := faultfs.New()
	j, err := file.Open(f.Context(), small(d))
	if err != nil {
		f.Fatal(err)
	}
	for n := range 4 {
		if _, err := appendWait(j, message(n, 300*n), settle(n)); err != nil {
			f.Fatal(err)
		}
	}
	after := d.AfterKill().Clone()
	d.Cut()
	j.Close() //nolint:errcheck // the power is off
	b := after.Bytes(firstSegment)
	f.Add(uint16(0), b[:64])
	f.Add(uint16(16), []byte{1})
	f.Add(uint16(4096), b[4096:4400])
	f.Add(uint16(4096+24), []byte{3})
	f.Add(uint16(4096+28), []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(uint16(4096+32), []byte{0, 1})
	f.Add(uint16(4200), []byte{})
	f.Fuzz(func(t *testing.T, offset uint16, patch []byte) {
		d := after.Clone()
		for i, b := range patch {
			if at := int64(offset) + int64(i); at < 16<<10 {
				if err := d.Set(firstSegment, at, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		j, err := file.Open(t.Context(), small(d))
		if err == nil {
			_, err = content(t.Context(), j)
			if err := j.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
		}
		var damage *journal.DamageError
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("%v does not say where the damage is", err)
		}
	})
}

// FuzzOpenCold writes anything anywhere into a cold segment. Opening and reading then work or say where the damage is,
// and no record answers with something else than it was.
func FuzzOpenCold(f *testing.F) {
	var once sync.Once
	var base *faultfs.Disk
	var k *kept
	f.Add(uint16(0), []byte("hikyakuc"))
	f.Add(uint16(16), []byte{1})
	f.Add(uint16(4096), []byte{0, 0, 0, 0})
	f.Add(uint16(4096+24), []byte{1})
	f.Add(uint16(4096+28), []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(uint16(4096+64+16), []byte{0, 1})
	f.Add(uint16(7000), make([]byte, 600))
	f.Fuzz(func(t *testing.T, offset uint16, patch []byte) {
		once.Do(func() { base, k = cold(t) })
		d := base.Clone()
		name := coldNames(d)[0]
		size := len(d.Bytes(name))
		for i, b := range patch {
			if at := int(offset) + i; at < size {
				if err := d.Set(name, int64(at), b); err != nil {
					t.Fatal(err)
				}
			}
		}
		j, err := file.Open(t.Context(), small(d))
		if err != nil {
			asDamage(t, err)
			return
		}
		err = j.Read(t.Context(), k.addrs, func(i int, r journal.Record, err error) {
			switch {
			case errors.Is(err, journal.ErrReleased): // a forged footer may leave it out
			case err != nil:
				asDamage(t, err)
			case string(r.Body) != string(k.records[i].Body):
				t.Fatalf("the record at %v is another one", k.addrs[i])
			}
		})
		if err := errors.Join(err, j.Close()); err != nil {
			t.Fatal(err)
		}
	})
}
