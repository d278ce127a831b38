package file

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
)

// print fills in what a note of an open file has.
func (n *note) print(t *testing.T, file *os.File) {
	t.Helper()
	c, err := newCursor(file, n.Offset)
	if err != nil {
		t.Fatal(err)
	}
	n.printHead(c.head())
	n.printTail(file)
}

func TestANoteKnowsItsFileAgain(t *testing.T) {
	f := newFolder(t)
	f.append("a", "one\ntwo\n")
	for name, c := range map[string]struct {
		change func(n *note)
		same   bool
	}{
		"unchanged":          {func(*note) {}, true},
		"born at no time":    {func(n *note) { n.Born = 0 }, true},
		"without a tail":     {func(n *note) { n.TailBytes, n.Tail = 0, "" }, true},
		"born another time":  {func(n *note) { n.Born++ }, false},
		"another head":       {func(n *note) { n.Head = "x" }, false},
		"another tail":       {func(n *note) { n.Tail = "x" }, false},
		"a longer head":      {func(n *note) { n.HeadBytes++ }, false},
		"read further":       {func(n *note) { n.Offset = 100 }, false},
		"the tail elsewhere": {func(n *note) { n.Offset = 8 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(f.path("a"))
			f.check(err)
			defer file.Close()
			n := note{Path: f.path("a"), Born: birth(file), Offset: 4}
			n.print(t, file)
			born := n.Born
			c.change(&n)
			same, err := n.same(file, 8, born)
			if err != nil || same != c.same {
				t.Errorf("%v, %v", same, err)
			}
		})
	}
}

func TestANoteOfAShorterHeadFitsAFileThatHasGrown(t *testing.T) {
	f := newFolder(t)
	f.append("a", "one\n")
	file, err := os.Open(f.path("a"))
	f.check(err)
	defer file.Close()
	n := note{Offset: 4}
	n.print(t, file)
	f.append("a", "two\n")
	if same, err := n.same(file, 8, 0); err != nil || !same {
		t.Errorf("%v, %v", same, err)
	}
}

// TestWhatSourcesThatAreGoneHaveNotedIsForgotten when their files are gone as well, and were read to their ends.
func TestWhatSourcesThatAreGoneHaveNotedIsForgotten(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	f.append("there", "one\n")
	f.append("renamed", "two\n")
	for name, of := range map[string]struct {
		path         string
		offset, size int64
		there        bool
	}{
		"logs of":    {"gone", 4, 4, false}, // its name has a blank
		"old":        {"gone", 4, 4, false},
		"behind":     {"gone", 3, 4, false},
		"reader":     {"there", 4, 4, true},
		"another":    {"renamed", 4, 4, true},
		"elsewhere":  {"no/folder", 4, 4, false},
		"not a note": {"", 0, 0, false},
	} {
		id := fileID{1, 1 << 60}
		n := note{Path: f.path(of.path), Offset: of.offset, Size: of.size}
		if of.there {
			st, err := os.Stat(n.Path)
			f.check(err)
			id, err = identity(st)
			f.check(err)
			n.Path = f.path("its name was another one")
		}
		key := (&Source{name: name}).key(id)
		if m.kept[key] = queueNote(key, string(n.bytes())); of.path == "" {
			m.kept[key] = queueNote(key, "{")
		}
	}
	m.kept["no key"] = queueNote("no key", "{}")
	made, err := New(Config{Include: []string{"x"}}, component.Env{Name: "logs"})
	f.check(err)
	s := made.(*Source)
	s.memory = m
	f.check(s.Start(t.Context()))
	left := ""
	for _, key := range slices.Sorted(maps.Keys(m.kept)) {
		left += key[:strings.LastIndexByte(key, ' ')] + ", "
	}
	if left != "another, behind, no, not a note, reader, " {
		t.Errorf("there are notes of %s", left)
	}
	m.kept["old 1:2"] = queueNote("old 1:2", string(note{Path: f.path("gone"), Offset: 1, Size: 1}.bytes()))
	m.failWith(errors.New("the disk is full"))
	f.check(s.Start(t.Context()))
	if said := s.Notices(); len(said) != 1 || !strings.Contains(said[0], "the disk is full") {
		t.Errorf("%q", said)
	}
}

func TestANoteThatCannotBeReadStopsTheStart(t *testing.T) {
	m := newNotes()
	m.kept["logs 1:2"] = queueNote("logs 1:2", "{")
	m.kept["other 1:2"] = queueNote("other 1:2", "{") // another source's
	made, err := New(Config{Include: []string{"x"}}, component.Env{Name: "logs"})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Source)
	s.memory = m
	if err := s.Start(t.Context()); err == nil {
		t.Error("started")
	}
	delete(m.kept, "logs 1:2")
	if err := s.Start(t.Context()); err != nil {
		t.Error(err)
	}
}

func FuzzNotesAndKeysAreReadBack(f *testing.F) {
	f.Add("logs", uint64(1), uint64(2), []byte(`{"path":"a","offset":7}`))
	f.Add("a 1:2", uint64(1<<63), uint64(0), []byte("null"))
	f.Fuzz(func(t *testing.T, name string, device, inode uint64, text []byte) {
		s := &Source{name: name}
		id := fileID{device, inode}
		if got, ok := s.parseKey(s.key(id)); !ok || got != id {
			t.Fatalf("key %q is read as %v, %v", s.key(id), got, ok)
		}
		if _, ok := s.parseKey(string(text)); ok && s.key(id) == "" {
			t.Fatal("a key is never empty")
		}
		n, err := parseNote(text)
		if err != nil {
			return
		}
		again, err := parseNote(n.bytes())
		if err != nil || again != n {
			t.Fatalf("%+v is read back as %+v, %v", n, again, err)
		}
	})
}
