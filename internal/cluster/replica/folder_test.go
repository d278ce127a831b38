package replica

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

func TestALogThatCameAndIsNotWantedGivesItsRoomBack(t *testing.T) {
	f := folder{dir: t.TempDir(), o: file.Options{SegmentBytes: 1 << 20}}
	fresh, _, err := f.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.path(comingName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there still: %v", err)
	}
}
