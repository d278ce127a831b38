package file

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// oneGroup is a folder with one group of one record, and the name of its segment.
func oneGroup(t *testing.T) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	j, err := Open(t.Context(), Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	err = j.Append([]journal.Record{{Life: journal.Lasting, Head: []byte("head"), Body: []byte("body")}},
		func(_ journal.Position, err error, _ int) { done <- err })
	if err == nil {
		err = errors.Join(<-done, j.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, segmentName(dir, 0)
}

// changeGroup changes the first group of a segment and makes its checksum fit.
func changeGroup(t *testing.T, name string, change func(meta []byte)) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first, err := decodeSegmentHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	group := b[segmentHeaderBytes:]
	h, err := decodeHeader(group, first.generation, segmentHeaderBytes, int64(len(group)))
	if err != nil || h.count != 1 {
		t.Fatalf("%+v, %v", h, err)
	}
	meta := group[:h.metaBytes()]
	change(meta)
	binary.LittleEndian.PutUint32(meta[4:], metaCRC(first.generation, meta))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsNotUnderstoodBehindASoundChecksumIsOfALaterVersion changes groups and lists as a version to come might
// write them. Start, check and repair say so, and none of them takes it for damage.
func TestWhatIsNotUnderstoodBehindASoundChecksumIsOfALaterVersion(t *testing.T) {
	line := func(dir, name string) string {
		for turn := range uint64(manifestFiles) {
			list := manifestName(dir, turn)
			b, err := os.ReadFile(list)
			if err != nil {
				continue // it was not written yet
			}
			text := strings.Replace(string(b), "clean ", "hot 12\nclean ", 1)
			if err := os.WriteFile(list, []byte(Resum(text)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return manifestPrefix
	}
	group := func(change func(meta []byte)) func(dir, name string) string {
		return func(_, name string) string {
			changeGroup(t, name, change)
			return filepath.Base(name)
		}
	}
	for what, x := range map[string]struct {
		change func(dir, name string) (named string)
		text   string
	}{
		"a kind of group":    {group(func(meta []byte) { meta[24] = byte(kindFooter) + 1 }), "its kind 7 is not known"},
		"a life of a record": {group(func(meta []byte) { meta[groupHeaderBytes+4] = 2 }), "the life 2 of record 0"},
		"more of a record": {group(func(meta []byte) { meta[groupHeaderBytes+28] = 1 }),
			"record 0, 0x1, is not known"},
		"a line of the list": {line, `the line "hot 12"`},
	} {
		t.Run(what, func(t *testing.T) {
			dir, name := oneGroup(t)
			named := x.change(dir, name)
			_, checked := Check(t.Context(), dir, nil)
			_, repaired := Repair(t.Context(), dir, RepairOptions{})
			for who, err := range map[string]error{"start": readAll(t, dir), "check": checked, "repair": repaired} {
				var format *journal.FormatError
				var damage *journal.DamageError
				if !errors.As(err, &format) || errors.As(err, &damage) || !strings.Contains(err.Error(), x.text) ||
					!strings.Contains(format.Where, named) {
					t.Errorf("%s: %v; wanted a format error of %s with %q", who, err, named, x.text)
				}
			}
		})
	}
}

// readAll is the error of a start, or of reading the log as a start does.
func readAll(t *testing.T, dir string) error {
	t.Helper()
	j, err := Open(t.Context(), Options{Dir: dir, SegmentBytes: 1 << 20, MaxGroupBytes: 64 << 10})
	if err != nil {
		return err
	}
	defer j.Close()
	for _, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			return err
		}
	}
	return nil
}
