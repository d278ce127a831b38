//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// stood is a folder with a journal of every kind of file, closed, and the names of what is in it.
func stood(t *testing.T) (o file.Options, names []string) {
	t.Helper()
	o = file.Options{Dir: t.TempDir(), SegmentBytes: 64 << 10, MaxGroupBytes: 64 << 10, Watch: time.Millisecond}
	j := mustOpen(t, o)
	for n := range 100 {
		mustAppend(t, j, message(n, 1000))
	}
	saveCheckpoint(t, j, j.End(), "first")
	saveCheckpoint(t, j, j.End(), "second")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return o, names
}

// TestWhatIsNoFileInAFilesPlaceIsNamedAndWaitedForByNobody puts a pipe, which nobody writes to, and a folder in the
// place of each file of a journal: a start and a check name it or go on without it.
func TestWhatIsNoFileInAFilesPlaceIsNamedAndWaitedForByNobody(t *testing.T) {
	for what, put := range map[string]func(string) error{
		"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"folder": func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		o, names := stood(t)
		for _, name := range names {
			path := filepath.Join(o.Dir, name)
			if err := errors.Join(os.Rename(path, path+".kept"), put(path)); err != nil {
				t.Fatal(err)
			}
			needless := strings.HasPrefix(name, "spare-")
			_, err := file.Check(t.Context(), o.Dir, nil)
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("check with a %s as %s: %v", what, name, err)
			}
			o.Report = func(error) {}
			j, err := file.Open(t.Context(), o)
			switch {
			case err != nil && (needless || !strings.Contains(err.Error(), name)):
				t.Errorf("open with a %s as %s: %v", what, name, err)
			case err == nil:
				if _, err := content(t.Context(), j); err != nil && !strings.Contains(err.Error(), name) {
					t.Errorf("a %s as %s: %v", what, name, err)
				}
				if err := j.Close(); err != nil {
					t.Errorf("close with a %s as %s: %v", what, name, err)
				}
			}
			if err := errors.Join(os.RemoveAll(path), os.Rename(path+".kept", path)); err != nil {
				t.Fatal(err)
			}
		}
		j := mustOpen(t, o)
		if _, err := content(t.Context(), j); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAPipeInAFilesPlaceWhileItIsOpenHoldsUpNothing: what looks for damage reads every file anew.
func TestAPipeInAFilesPlaceWhileItIsOpenHoldsUpNothing(t *testing.T) {
	o, names := stood(t)
	o.Watch = -1
	o.Scrub = file.Scrub{Every: time.Millisecond}
	said := make(chan error, 1000)
	o.Report = func(err error) {
		select {
		case said <- err:
		default:
		}
	}
	for _, name := range names {
		j := mustOpen(t, o)
		if _, err := os.Stat(filepath.Join(o.Dir, name)); err != nil || strings.HasPrefix(name, "spare-") ||
			name == "lock" {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			continue // nobody reads it
		}
		path := filepath.Join(o.Dir, name)
		if err := errors.Join(os.Rename(path, path+".kept"), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		for found := false; !found; {
			found = strings.Contains((<-said).Error(), name)
		}
		if err := errors.Join(os.Rename(path+".kept", path), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
