package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// noted returns the note that the store has of a file with that Origin.Source.
func (n *notes) noted(source string) (note, bool) {
	all, _ := n.Notes(context.Background(), room)
	for _, kept := range all {
		if parsed, err := parseNote(kept.Value); err == nil && parsed.Source == source {
			return parsed, true
		}
	}
	return note{}, false
}

// TestEveryFileIsNotedBeforeALineOfItIsSent: a file that is renamed after a kill is found by its note alone.
func TestEveryFileIsNotedBeforeALineOfItIsSent(t *testing.T) {
	for name, atFirst := range map[string]string{"with lines": "0\n", "empty at first": "",
		"a line without an end": "0"} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			m := newNotes()
			f.append("a", atFirst)
			r := begin(t, m, Config{Include: []string{f.path("a")}, RotateWait: time.Hour})
			eventually(t, "the file is noted", func() bool { return m.len() == 1 })
			f.append("a", "1\n2\n")
			f.rename("a", "a.1")
			f.append("new", "3\n") // it is never seen empty
			f.rename("new", "a")
			for body := ""; body != "3"; {
				d := r.next()
				body = string(d.Message.Body)
				o := d.Message.Origin
				if n, ok := m.noted(o.Source); !ok || n.HeadBytes <= int(o.Offset) || n.Size == 0 && atFirst != "" {
					t.Errorf("%q at %+v is sent, and its file noted as %+v, %v", body, o, n, ok)
				}
				d.Settle(component.OK(time.Now()))
			}
			r.stop()
		})
	}
}

func TestNoLineIsSentOfAFileThatCannotBeNoted(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	f.append("a", "1\n")
	r := begin(t, m, Config{Include: []string{f.path("a")}})
	r.expect("1")
	m.failWith(errors.New("no room"))
	f.append("a", "2\n")
	r.nothing()
	f.truncate("a")
	f.append("a", "3\n")
	r.nothing()
	m.failWith(nil)
	r.expect("3")
	r.stop()
}

// TestAFileIsFoundThatMovedWhileNobodyRead tells what happens to a file between a kill and the next start.
func TestAFileIsFoundThatMovedWhileNobodyRead(t *testing.T) {
	for name, c := range map[string]struct {
		atFirst string
		want    []string // before the kill
		happens func(f folder)
		then    []string // at the next start: what was not settled, and what came
		notice  string
	}{
		"found empty": {"", nil, func(f folder) {
			f.append("a", "1\n")
			f.rename("a", "a.1")
			f.append("a", "new\n")
		}, []string{"1", "new"}, ""},
		"renamed twice": {"1\n", []string{"1"}, func(f folder) {
			f.append("a", "2\n")
			f.rename("a", "a.1")
			f.rename("a.1", "a.2")
			f.append("a", "new\n")
		}, []string{"1", "2", "new"}, ""},
		"in a circle": {"1\n", []string{"1"}, func(f folder) {
			f.rename("a", "b")
			f.append("b", "2\n")
			f.rename("b", "a")
		}, []string{"1", "2"}, ""},
		"truncated and renamed": {"1\n", []string{"1"}, func(f folder) {
			f.truncate("a")
			f.append("a", "2\n3\n")
			f.rename("a", "a.1")
			f.append("a", "new\n")
		}, []string{"2", "3", "new"}, ""},
		"deleted": {"1\n2\n", []string{"1"}, func(f folder) {
			f.check(os.Remove(f.path("a")))
		}, nil, "was deleted or moved away while nobody read it: what was not delivered of it is lost, from byte 0 on"},
		"deleted, another of its name": {"1\n", []string{"1"}, func(f folder) {
			f.rename("a", "b")
			f.append("a", "new\n")
			f.check(os.Remove(f.path("b")))
		}, []string{"new"}, "is lost, from byte 0 on"},
		"to another folder": {"1\n", []string{"1"}, func(f folder) {
			f.check(os.Mkdir(f.path("old"), 0o700))
			f.rename("a", "old/a")
		}, nil, "is lost, from byte 0 on"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			m := newNotes()
			config := Config{Include: []string{f.path("a")}, RotateWait: time.Hour}
			f.append("a", c.atFirst)
			r := begin(t, m, config)
			eventually(t, "the file is noted", func() bool { return m.len() == 1 })
			r.expect(c.want...)
			r.kill()
			c.happens(f)
			r = begin(t, m, config)
			r.expect(c.then...)
			r.nothing()
			if ns := r.Notices(); c.notice == "" && len(ns) > 0 || c.notice != "" &&
				(len(ns) != 1 || !strings.Contains(ns[0], c.notice)) {
				t.Errorf("notices %q", ns)
			}
			r.stop()
		})
	}
}

func TestADeletedFileThatWasDeliveredIsNotMourned(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	c := Config{Include: []string{f.path("a")}}
	f.append("a", "1\n2\n")
	r := begin(t, m, c)
	r.expect("1", "2")
	r.stop()
	f.check(os.Remove(f.path("a")))
	r = begin(t, m, c)
	eventually(t, "the file is forgotten", func() bool { return m.len() == 0 })
	r.stop()
	if ns := r.Notices(); len(ns) > 0 {
		t.Errorf("%q", ns)
	}
}

// TestAFolderThatCannotBeReadIsNotTakenForOneWithoutTheFile: the note of a moved file stays until its folder can be
// read.
func TestAFolderThatCannotBeReadIsNotTakenForOneWithoutTheFile(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	// d is a link, so that what it stands for changes in one step: a moment without it would be one in which the file
	// was deleted.
	become := func(what string) {
		f.check(os.Symlink(f.path(what), f.path("link")))
		f.rename("link", "d")
	}
	f.check(os.Mkdir(f.path("folder"), 0o700))
	f.append("none", "no folder")
	become("folder")
	c := Config{Include: []string{filepath.Join(f.path("d"), "a")}}
	f.append("d/a", "1\n2\n")
	r := begin(t, m, c)
	r.expect("1")
	r.kill()
	f.rename("d/a", "d/a.1")
	become("none")
	r = begin(t, m, c)
	eventually(t, "it is told", func() bool { return len(r.Notices()) > 0 })
	become("folder")
	r.expect("1", "2")
	r.stop()
}
