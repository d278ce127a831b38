package replica

import (
	"errors"
	"io/fs"
	"os"
	"strings"
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

// A node that took another id for its own would wait for ever: nobody knows it.
func TestAnyFlippedBitOrCutInTheNameOfAReplicaIsTold(t *testing.T) {
	for _, began := range []bool{false, true} {
		f := folder{dir: t.TempDir()}
		if err := f.setID(0x71beeff900000001, began); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(f.path(idName))
		if err != nil {
			t.Fatal(err)
		}
		if id, was, err := f.id(); id != 0x71beeff900000001 || was != began || err != nil {
			t.Fatalf("%x %v %v", id, was, err)
		}
		told := func(b []byte) {
			t.Helper()
			if err := os.WriteFile(f.path(idName), b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := f.id(); err == nil || !strings.Contains(err.Error(), "is damaged") ||
				!strings.Contains(err.Error(), "remove "+f.dir) {
				t.Errorf("%q: %v", b, err)
			}
		}
		for bit := range 8 * len(whole) {
			b := []byte(string(whole))
			b[bit/8] ^= 1 << (bit % 8)
			told(b)
		}
		for n := range whole {
			told(whole[:n])
		}
		told(append(whole, '\n'))
	}
}
