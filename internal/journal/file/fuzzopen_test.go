package file_test

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// FuzzOpenSegment writes anything anywhere into the newest segment of a journal whose process died. Opening, scanning and
// reading then work or say where the damage is.
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
