package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestWhatWasAcknowledgedIsNotedBefore takes the last group away, as if the disk had lost it, at each moment at which
// somebody has just been told that it is durable.
func TestWhatWasAcknowledgedIsNotedBefore(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	for n := range 30 {
		p := mustAppend(t, j, message(n, 700))
		after := d.Clone()
		name := slices.MaxFunc(after.Names(), func(a, b string) int { return strings.Compare(logName(a), logName(b)) })
		b := after.Bytes(name)
		clear(b[int64(p)-baseOf(t, name):])
		after.Put(name, b)
		_, err := file.Open(t.Context(), small(after))
		if damage := asDamage(t, err); !strings.HasPrefix(damage.Where, name) ||
			!strings.Contains(damage.What, "was synced once") {
			t.Errorf("group %d: %v", n, damage)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// logName is the name of a segment of the log, and nothing for other files.
func logName(name string) string {
	if strings.HasSuffix(name, ".log") {
		return name
	}
	return ""
}

func TestANoteOfEarlierIsTrueAndOneThatIsMissingHarmless(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	var want []journal.Position
	var notes [][]byte
	for n := range 12 {
		want = append(want, mustAppend(t, j, message(n, 2500)))
		notes = append(notes, d.Bytes(synced))
	}
	after := d.AfterKill().Clone()
	abandon(t, j, d)
	for n, note := range append(notes, nil, []byte{}, make([]byte, 128)) {
		c := after.Clone()
		c.Put(synced, note)
		if got, err := groupsOn(t, c); err != nil || !slices.Equal(got, want) {
			t.Errorf("with note %d: groups at %v, %v; want %v", n, got, err, want)
		}
	}
}

// TestANoteThatCannotBeWrittenStopsNobody takes the file's end away from under the journal, whose memory of it then
// cannot be written to.
func TestANoteThatCannotBeWrittenStopsNobody(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var said []string
	j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10, Report: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, err.Error())
	}})
	first := mustAppend(t, j, message(1, 100))
	if err := os.Truncate(filepath.Join(dir, "synced"), 0); err != nil {
		t.Fatal(err)
	}
	second := mustAppend(t, j, message(2, 100))
	third := mustAppend(t, j, message(3, 100))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if len(said) != 1 || !strings.Contains(said[0], "note what is synced") {
		t.Errorf("told: %q", said)
	}
	mu.Unlock()
	j = mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10})
	defer j.Close()
	if errs := readErrors(t, j, journal.Address{Position: first}, journal.Address{Position: second},
		journal.Address{Position: third}); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		t.Errorf("%v", errs)
	}
}
