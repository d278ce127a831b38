package file_test

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestACheckpointThatIsNotOfThisLogIsNotBelieved puts checkpoints in the place of all that a folder has: those of
// another journal, and those that it had before. The first tell of messages that were never there, the second need
// segments that were reclaimed since.
func TestACheckpointThatIsNotOfThisLogIsNotBelieved(t *testing.T) {
	for _, l := range lives(t) {
		names := slices.DeleteFunc(l.disk.Names(), func(name string) bool { return kindOf(name) != "checkpoint" })
		if len(names) == 0 {
			continue
		}
		strange := map[string][]byte{"log/checkpoint-0000000000000001": otherCheckpoint(t)}
		for name, list := range l.older {
			if kindOf(name) == "checkpoint" && !slices.Contains(names, name) {
				strange[name] = list[len(list)-1]
			}
		}
		for name, b := range strange {
			d := l.disk.Clone()
			for _, name := range names {
				d.Put(name, nil)
			}
			d.Put(name, b)
			if verdict, why := l.judge(t, d); verdict == silent || verdict == unnamed || verdict == unchecked ||
				verdict == altered {
				t.Errorf("%s: only %s, of %d bytes: %s: %s", l.name, filepath.Base(name), len(b), verdict, why)
			}
		}
	}
}

// otherCheckpoint is the first checkpoint of another journal, which had settled its only message.
func otherCheckpoint(t *testing.T) []byte {
	t.Helper()
	d := faultfs.New()
	j := mustOpen(t, small(d))
	mustAppend(t, j, message(0, sizeOf(0)))
	mustAppend(t, j, settle(0))
	if err := j.SaveCheckpoint(t.Context(), j.End(), func(w io.Writer) error { return owned{}.save(w) }); err != nil {
		t.Fatal(err)
	}
	b := d.Bytes(fmt.Sprintf("log/checkpoint-%016x", 1))
	if err := j.Close(); err != nil || b == nil {
		t.Fatal(b, err)
	}
	return b
}
