package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestFilesAreReadToTheirEndsWhereTheSourceDoesNotFollow(t *testing.T) {
	f := newFolder(t)
	f.append("a.log", "1\n\n2\r\nunfinished")
	f.append("b.log", "3\n")
	f.append("b.skip", "4\n")
	f.append("c.log", "")
	r := begin(t, newNotes(), Config{Include: []string{f.path("*.log"), f.path("a.*"), f.path("b.*")},
		Exclude: []string{f.path("*.skip")}, Follow: &no, PathAttribute: "file"})
	got := map[string]string{}
	for range 4 {
		d := r.next()
		path, _ := d.Message.Attributes.Get("file")
		got[string(d.Message.Body)] = path.AsString()
		if d.Message.Time.IsZero() || d.Message.Hops[message.Accepted] == 0 {
			t.Errorf("%+v", d.Message)
		}
		d.Settle(component.OK(time.Now()))
	}
	r.finish()
	for body, name := range map[string]string{"1": "a.log", "2": "a.log", "unfinished": "a.log", "3": "b.log"} {
		if got[body] != f.path(name) {
			t.Errorf("%s came from %q", body, got[body])
		}
	}
}

func TestAByteOrderMarkIsNoPartOfTheFirstLine(t *testing.T) {
	f := newFolder(t)
	f.append("a", "\ufeffone\n\ufefftwo\n")
	notes := newNotes()
	r := begin(t, notes, Config{Include: []string{f.path("a")}, Follow: &no})
	got := r.expect("one", "\ufefftwo")
	if got[0].Origin.Offset != 3 || got[1].Origin.Offset != 7 {
		t.Errorf("at %d and %d", got[0].Origin.Offset, got[1].Origin.Offset)
	}
	r.finish()
	f.append("a", "three\n")
	r = begin(t, notes, Config{Include: []string{f.path("a")}, Follow: &no})
	r.expect("three")
	r.finish()
}

func TestAPatternWithoutAFileIsNoticedWhereTheSourceDoesNotFollow(t *testing.T) {
	f := newFolder(t)
	f.append("a.log", "one\n")
	r := begin(t, newNotes(), Config{Include: []string{f.path("*.log"), f.path("*.txt")}, Follow: &no})
	r.expect("one")
	r.finish()
	if got := r.Notices(); len(got) != 1 ||
		!strings.Contains(got[0], fmt.Sprintf("no file matches the pattern %q", f.path("*.txt"))) {
		t.Errorf("%q", got)
	}
}

func TestItEndsOnlyWhenNothingWaitsToBeSentAgain(t *testing.T) {
	f := newFolder(t)
	f.append("a", "1\n2\n")
	m := newNotes()
	r := begin(t, m, Config{Include: []string{f.path("a")}, Follow: &no})
	one := r.next()
	one.Settle(component.Again(0, errors.New("no room")))
	r.expect("2")
	again := r.next()
	if string(again.Message.Body) != "1" || again.Message.Origin != one.Message.Origin {
		t.Errorf("%q with %+v", again.Message.Body, again.Message.Origin)
	}
	if err := <-r.ended; err != nil { // it does not wait for what is under way
		t.Fatal(err)
	}
	again.Settle(component.OK(time.Now()))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = begin(t, m, Config{Include: []string{f.path("a")}, Follow: &no})
	r.finish()
}

func TestOriginsTellThePlaceAndTheMark(t *testing.T) {
	f := newFolder(t)
	f.append("a", "zero\n\nsix\nten\n")
	r := begin(t, newNotes(), Config{Include: []string{f.path("a")}})
	first := r.next()
	second := r.next()
	first.Settle(component.OK(time.Now()))
	third := r.next()
	source := first.Message.Origin.Source
	for i, want := range []message.Origin{{Source: source}, {Source: source, Offset: 6}, {Source: source, Offset: 10}} {
		got := []component.Delivery{first, second, third}[i].Message.Origin
		if got.Mark > want.Offset {
			t.Errorf("line %d: mark %d is above its offset", i, got.Mark)
		}
		got.Mark = 0
		if got != want || source == "" {
			t.Errorf("line %d: %+v, want %+v", i, got, want)
		}
	}
	f.append("a", "14\n")
	if fourth := r.next(); fourth.Message.Origin.Mark != 6 {
		t.Errorf("the mark is %d, with the line at 6 under way", fourth.Message.Origin.Mark)
	}
	r.stop()
}

func TestWhatIsAppendedIsFollowed(t *testing.T) {
	for _, watching := range []bool{true, false} {
		t.Run(fmt.Sprintf("watching %v", watching), func(t *testing.T) {
			f := newFolder(t)
			c := Config{Include: []string{f.path("*.log")}}
			if watching {
				c.PollInterval = time.Hour // only being told helps
			}
			f.append("a.log", "1\n")
			r := beginAs(t, newNotes(), c, watching)
			r.expect("1")
			f.append("a.log", "2\nunfin")
			r.expect("2")
			r.nothing()
			f.append("a.log", "ished\n")
			r.expect("unfinished")
			f.append("b.log", "new\n")
			r.expect("new")
			r.stop()
		})
	}
}

func TestAFolderThatIsMadeLaterIsFound(t *testing.T) {
	f := newFolder(t)
	r := begin(t, newNotes(), Config{Include: []string{f.path("*/deep/*.log")}})
	r.nothing()
	f.check(os.MkdirAll(f.path("x/deep"), 0o700))
	f.append("x/deep/a.log", "1\n")
	r.expect("1")
	r.stop()
}

func TestReadingCanBeginAtTheEnd(t *testing.T) {
	f := newFolder(t)
	f.append("a", "old\n")
	f.append("b", "old\nunfin")
	m := newNotes()
	c := Config{Include: []string{f.path("*")}, ReadFrom: "end"}
	r := begin(t, m, c)
	eventually(t, "both files are noted", func() bool { return m.len() == 2 })
	f.append("b", "ished\n")
	r.expect("unfinished")
	f.append("a", "new\n")
	r.expect("new")
	f.append("c", "a new file is read whole\n")
	r.expect("a new file is read whole")
	r.stop()
	f.append("a", "while nobody read\n")
	f.append("d", "came while nobody read\n")
	r = begin(t, m, c)
	r.expect("while nobody read")
	r.stop()
}

func TestALongLineEndsTheRunUnlessItMayBeSkipped(t *testing.T) {
	f := newFolder(t)
	f.append("a", "short\n"+strings.Repeat("x", 100)+"\nlast\n")
	c := Config{Include: []string{f.path("a")}, Follow: &no, MaxLineBytes: 10}
	r := begin(t, newNotes(), c)
	r.expect("short")
	if err := <-r.ended; err == nil || !strings.Contains(err.Error(), f.path("a")) ||
		!strings.Contains(err.Error(), "byte 6") {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	c.SkipLongLines = true
	r = begin(t, newNotes(), c)
	r.expect("short", "last")
	r.finish()
	if n := r.Notices(); len(n) != 1 || !strings.Contains(n[0], "skipped") {
		t.Errorf("notices %q", n)
	}
}

func TestEveryFileHasItsTurn(t *testing.T) {
	f := newFolder(t)
	const n = 5 * turnLines
	long, _ := numbered("long ", n)
	f.append("a", long)
	f.append("b", "short\n")
	r := begin(t, newNotes(), Config{Include: []string{f.path("*")}, Follow: &no})
	for i := range n + 1 {
		d := r.next()
		if string(d.Message.Body) == "short" && i > turnLines {
			t.Errorf("a short file waited for %d lines of a long one", i)
		}
		d.Settle(component.OK(time.Now()))
	}
	r.finish()
}

func TestFewFilesAreOpenAtOnce(t *testing.T) {
	for _, follow := range []bool{true, false} {
		f := newFolder(t)
		var want []string
		for i := range 20 {
			text, lines := numbered(fmt.Sprintf("%02d ", i), turnLines+10)
			f.append(fmt.Sprintf("%02d", i), text)
			want = append(want, lines...)
		}
		r := begin(t, newNotes(), Config{Include: []string{f.path("*")}, Follow: &follow, MaxOpenFiles: 3})
		var got []string
		for range want {
			d := r.next()
			got = append(got, string(d.Message.Body))
			d.Settle(component.OK(time.Now()))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d lines differ from the %d written", len(got), len(want))
		}
		if follow {
			for i := range 20 {
				f.append(fmt.Sprintf("%02d", i), fmt.Sprintf("more %02d\n", i))
				r.expect(fmt.Sprintf("more %02d", i))
			}
			r.stop()
		} else {
			r.finish()
		}
		if r.open > 3 {
			t.Errorf("%d files were open", r.open)
		}
	}
}

func TestNoLineIsSentBeforeItsFileIsNoted(t *testing.T) {
	f := newFolder(t)
	f.append("a", "1\n")
	m := newNotes()
	m.failWith(queue.ErrNoRoom)
	r := begin(t, m, Config{Include: []string{f.path("a")}})
	r.nothing()
	if n := r.Notices(); len(n) == 0 || !strings.Contains(n[0], queue.ErrNoRoom.Error()) {
		t.Errorf("notices %q", n)
	}
	m.failWith(nil)
	r.expect("1")
	r.stop()
}

func TestAMemoryThatIsOverEndsTheRun(t *testing.T) {
	f := newFolder(t)
	f.append("a", "1\n")
	m := newNotes()
	m.failWith(queue.ErrUnavailable)
	r := begin(t, m, Config{Include: []string{f.path("a")}})
	if err := <-r.ended; !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("Close: %v", err)
	}
}

func TestTroubleWithAFileEndsTheRunWhereTheSourceDoesNotFollow(t *testing.T) {
	f := newFolder(t)
	f.check(os.Symlink(f.path("loop"), f.path("loop")))
	r := begin(t, newNotes(), Config{Include: []string{f.path("*")}, Follow: &no})
	if err := <-r.ended; err == nil || !strings.Contains(err.Error(), "loop") {
		t.Errorf("Run: %v", err)
	}
	r.Close()
	r = begin(t, newNotes(), Config{Include: []string{f.path("*")}})
	f.append("a", "1\n")
	r.expect("1")
	r.stop()
	if n := r.Notices(); len(n) != 1 || !strings.Contains(n[0], "loop") {
		t.Errorf("notices %q", n)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	ok := []string{"x"}
	for setting, c := range map[string]Config{
		"include":        {},
		"include[1]":     {Include: []string{"x", "["}},
		"include[0]":     {Include: []string{"a/**/b"}},
		"include[0] ":    {Include: []string{""}},
		"exclude[0]":     {Include: ok, Exclude: []string{"["}},
		"read_from":      {Include: ok, ReadFrom: "middle"},
		"poll_interval":  {Include: ok, PollInterval: -1},
		"rotate_wait":    {Include: ok, RotateWait: -1},
		"max_line_bytes": {Include: ok, MaxLineBytes: -1},
		"max_open_files": {Include: ok, MaxOpenFiles: -1},
	} {
		_, err := New(c, component.Env{})
		var s *component.SettingError
		if !errors.As(err, &s) || s.Setting != strings.TrimSpace(setting) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	made, err := New(Config{Include: ok}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Source).Start(t.Context()); !errors.Is(err, ErrNoStore) {
		t.Errorf("started without a store: %v", err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkLines reads lines of 100 bytes, settled at once.
func BenchmarkLines(b *testing.B) {
	path := filepath.Join(b.TempDir(), "in")
	line := strings.Repeat("x", 99) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, b.N)), 0o600); err != nil {
		b.Fatal(err)
	}
	made, err := New(Config{Include: []string{path}, Follow: &no}, component.Env{Name: "logs"})
	if err != nil {
		b.Fatal(err)
	}
	s := made.(*Source)
	s.memory = newNotes()
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(b.Context(), settling{}); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// settling settles everything at once.
type settling struct{}

func (settling) Send(_ context.Context, d component.Delivery) error {
	d.Settle(component.OK(time.Time{}))
	return nil
}
