package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

func TestAFolderIsHeldByOneProcessAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, held, err := file.Holder(dir); held || err != nil {
		t.Errorf("a folder that is not there is held: %v", err)
	}
	for range 2 {
		hold, err := file.Hold(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Hold(dir); !errors.Is(err, journal.ErrLocked) {
			t.Errorf("it is held twice: %v", err)
		}
		if pid, held, err := file.Holder(dir); pid != os.Getpid() || !held || err != nil {
			t.Errorf("process %d holds it, %v", pid, err)
		}
		j := mustOpen(t, file.Options{Dir: filepath.Join(dir, "journal")}) // one in it has a lock of its own
		if err := errors.Join(j.Close(), hold.Close()); err != nil {
			t.Fatal(err)
		}
		if _, held, err := file.Holder(dir); held || err != nil {
			t.Errorf("it is held still, %v", err)
		}
	}
}
