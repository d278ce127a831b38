//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// folderContents are the files of a folder with what is in them.
func folderContents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

// TestAFolderThatComesInThePlaceOfAJournalsIsNotTouched puts a copy of the folder in its place, which the path leads to
// from then on: until the watch notices, everything goes on where it was, and nothing of the copy is changed.
func TestAFolderThatComesInThePlaceOfAJournalsIsNotTouched(t *testing.T) {
	for how, swap := range map[string]func(link, dir, other string) error{
		"a link that is turned": func(link, _, other string) error {
			return errors.Join(os.Symlink(other, link+".new"), os.Rename(link+".new", link))
		},
		"a folder that is renamed": func(link, dir, other string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Rename(other, dir))
		},
	} {
		t.Run(how, func(t *testing.T) {
			base := t.TempDir()
			link, dir, other := filepath.Join(base, "link"), filepath.Join(base, "dir"), filepath.Join(base, "other")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink(dir, link)); err != nil {
				t.Fatal(err)
			}
			o := file.Options{Dir: link, SegmentBytes: 64 << 10, MaxGroupBytes: 64 << 10, Watch: time.Hour,
				Report: func(err error) { t.Error(err) }}
			j := mustOpen(t, o)
			j.Keep(slices.Values([]journal.Address(nil)))
			var addrs []journal.Address
			for n := range 200 {
				addrs = append(addrs, journal.Address{Position: mustAppend(t, j, message(n, 1000))})
			}
			saveCheckpoint(t, j, j.End(), "first")
			if err := errors.Join(os.CopyFS(other, os.DirFS(dir)), swap(link, dir, other)); err != nil {
				t.Fatal(err)
			}
			before := folderContents(t, link)
			j.Release(addrs...)
			for n := range 200 { // begins segments, and takes those before away
				mustAppend(t, j, message(n, 1000))
				if n%50 == 0 {
					saveCheckpoint(t, j, j.End(), "later")
				}
			}
			for j.Stats().Segments > 8 {
				time.Sleep(time.Millisecond)
			}
			after := folderContents(t, link)
			for name := range before {
				if before[name] != after[name] {
					t.Errorf("%s was changed", name)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%d files are there, and %d were", len(after), len(before))
			}
			if err := file.Look(j); err == nil {
				t.Error("the watch notices nothing")
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			if how == "a folder that is renamed" {
				dir += ".old"
			}
			o.Dir = dir
			j = mustOpen(t, o)
			defer j.Close()
			if _, err := content(t.Context(), j); err != nil {
				t.Error(err)
			}
		})
	}
}
