package file

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func TestAFormatIsKnownOrNotWithoutALock(t *testing.T) {
	if err := Known(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("of no journal: %v", err)
	}
	dir, name := oneGroup(t)
	if err := Known(dir); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b[8:], formatVersion+1)
	binary.LittleEndian.PutUint32(b[12:], headerCRC(b[:segmentHeaderBytes]))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var format *journal.FormatError
	if err := Known(dir); !errors.As(err, &format) || format.Where != name || format.Found != formatVersion+1 {
		t.Errorf("of a later version: %v", err)
	}
	b[12]++ // damage
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Known(dir); err != nil {
		t.Errorf("of a damaged one: %v", err)
	}
}
