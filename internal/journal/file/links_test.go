//go:build unix

package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// TestFilesThatStandForOthersAreNamedOrHarmless swaps each two files of a journal, has one be a link to another, of
// either kind, and has each be a link to where it was moved to. A start names one of them and changes nothing, or it
// finds all that there was, and goes on so that a later one does.
func TestFilesThatStandForOthersAreNamedOrHarmless(t *testing.T) {
	const more = 70 // they begin another segment
	base, all := stood(t)
	j := mustOpen(t, base)
	want, err := content(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	find := func(what string, do func(dir string) error, names []string) {
		t.Helper()
		o := base
		o.Dir = filepath.Join(t.TempDir(), "journal")
		o.Report, o.Durability = func(error) {}, journal.None
		if err := errors.Join(os.CopyFS(o.Dir, os.DirFS(base.Dir)), do(o.Dir)); err != nil {
			t.Fatal(err)
		}
		named := func(err error) bool {
			for _, name := range names {
				if strings.Contains(err.Error(), name) {
					return true
				}
			}
			return false
		}
		r, err := file.Check(t.Context(), o.Dir, nil)
		sound := err == nil && len(r.Damages) == 0
		if err != nil && !named(err) {
			t.Errorf("%s: check: %v", what, err)
		}
		before := folderContents(t, o.Dir)
		j, err := file.Open(t.Context(), o)
		if err != nil {
			if !named(err) {
				t.Errorf("%s: open: %v", what, err)
			}
			if sound && !slices.Contains(names, "lock") {
				t.Errorf("%s: the check finds nothing, and a start %v", what, err)
			}
			after := folderContents(t, o.Dir)
			for name := range before {
				if name != "lock" && after[name] != before[name] {
					t.Errorf("%s: a start that failed has changed %s", what, name)
				}
			}
			return
		}
		got, err := content(t.Context(), j)
		if got != want && (err == nil || !named(err)) {
			t.Errorf("%s: what there was is not found: %v", what, err)
		}
		for n := range more {
			mustAppend(t, j, message(1000+n, 1000))
		}
		saveCheckpoint(t, j, j.End(), "third")
		if err := j.Close(); err != nil {
			t.Errorf("%s: close: %v", what, err)
		}
		if j, err = file.Open(t.Context(), o); err != nil {
			t.Errorf("%s: a later start: %v", what, err)
			return
		}
		if again, err := content(t.Context(), j); err != nil || strings.Count(again, "head of") != 100+more {
			t.Errorf("%s: a later start: %v", what, err)
		}
		if err := j.Close(); err != nil {
			t.Errorf("%s: close: %v", what, err)
		}
	}
	type trial struct {
		what  string
		do    func(dir string) error
		names []string
	}
	var trials []trial
	try := func(what string, do func(dir string) error, names ...string) {
		trials = append(trials, trial{what, do, names})
	}
	for i, a := range all {
		try(fmt.Sprintf("%s elsewhere", a), func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, a), filepath.Join(dir, "..", a)),
				os.Symlink(filepath.Join(dir, "..", a), filepath.Join(dir, a)))
		}, a)
		for k, b := range all {
			if i == k {
				continue
			}
			if i < k {
				try(fmt.Sprintf("%s and %s swapped", a, b), func(dir string) error {
					a, b := filepath.Join(dir, a), filepath.Join(dir, b)
					return errors.Join(os.Rename(a, a+".moved"), os.Rename(b, a), os.Rename(a+".moved", b))
				}, a, b)
			}
			for what, link := range map[string]func(string, string) error{"a name of": os.Link,
				"a link to": os.Symlink} {
				try(fmt.Sprintf("%s as %s %s", a, what, b), func(dir string) error {
					a, b := filepath.Join(dir, a), filepath.Join(dir, b)
					return errors.Join(os.Remove(a), link(b, a))
				}, a, b)
			}
		}
	}
	n := len(trials)
	for _, x := range sampletest.Of(t, n/amount(1, 3, 12), trials...) {
		find(x.what, x.do, x.names)
	}
}
