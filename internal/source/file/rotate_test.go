package file

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
)

func TestARenamedFileIsFinishedBeforeTheNewOneOfItsName(t *testing.T) {
	for _, include := range []string{"a.log", "a.log*"} {
		t.Run(include, func(t *testing.T) {
			f := newFolder(t)
			r := begin(t, newNotes(), Config{Include: []string{f.path(include)}, RotateWait: time.Hour})
			old, want := numbered("old ", 3*turnLines)
			f.append("a.log", "first\n")
			r.expect("first")
			f.append("a.log", old)
			f.rename("a.log", "a.log.1")
			f.append("a.log", "new\n")
			r.expect(append(want, "new")...)
			f.append("a.log.1", "late\n") // its writer has not reopened it yet
			r.expect("late")
			f.append("a.log", "newer\n")
			r.expect("newer")
			r.stop()
		})
	}
}

// TestARenamedFileIsFinishedBeforeANewOneThatComesLater looks around between the renaming and the new file.
func TestARenamedFileIsFinishedBeforeANewOneThatComesLater(t *testing.T) {
	for _, include := range []string{"a.log", "a.log*"} {
		t.Run(include, func(t *testing.T) {
			f := newFolder(t)
			r := prepare(t, newNotes(), Config{Include: []string{f.path(include)}, RotateWait: time.Hour})
			old, want := numbered("old ", 3*turnLines)
			want = append(want, "new")
			sent := out{make(chan component.Delivery, len(want))}
			r.out, r.outbox, r.tick = sent, make(chan lines.Send, len(want)), time.NewTicker(time.Hour)
			defer r.tick.Stop()
			round := func() bool {
				busy, err := r.round(t.Context())
				f.check(err)
				return busy
			}
			f.append("a.log", old)
			f.check(r.look(t.Context()))
			round()
			f.rename("a.log", "a.log.1")
			f.check(r.look(t.Context()))
			f.append("a.log", "new\n")
			f.check(r.look(t.Context()))
			for round() {
			}
			for i, line := range want {
				f.check((<-r.outbox)(t.Context(), func(bool) {}))
				d := <-sent.got
				if string(d.Message.Body) != line {
					t.Fatalf("line %d is %q, want %q", i, d.Message.Body, line)
				}
				d.Settle(component.OK(time.Now()))
			}
			f.check(r.Close())
		})
	}
}

func TestARenamedFileWithoutANewOneGoesOn(t *testing.T) {
	f := newFolder(t)
	f.append("a.log", "1\n")
	r := begin(t, newNotes(), Config{Include: []string{f.path("*.log")}})
	r.expect("1")
	f.rename("a.log", "b.log")
	f.append("b.log", "2\n")
	r.expect("2")
	r.nothing() // it is not read again under its new name
	r.stop()
}

func TestAnUnfinishedLineOfARenamedFileIsDeliveredInTheEnd(t *testing.T) {
	f := newFolder(t)
	f.append("a.log", "1\nunfinished")
	m := newNotes()
	r := begin(t, m, Config{Include: []string{f.path("a.log")}})
	r.expect("1")
	r.nothing()
	f.rename("a.log", "a.log.1")
	r.expect("unfinished")
	eventually(t, "the file is forgotten", func() bool { return m.len() == 0 })
	r.stop()
	if r.open != 0 {
		t.Errorf("%d files are open", r.open)
	}
}

func TestADeletedFileIsReadToItsEndAndForgotten(t *testing.T) {
	f := newFolder(t)
	f.append("a.log", "1\n2\n3\n")
	m := newNotes()
	r := begin(t, m, Config{Include: []string{f.path("a.log")}})
	one := r.next()
	f.check(os.Remove(f.path("a.log")))
	r.expect("2", "3")
	time.Sleep(3 * r.config.RotateWait) // a line under way keeps the note
	if m.len() != 1 {
		t.Error("forgotten with a line under way")
	}
	one.Settle(component.OK(time.Now()))
	eventually(t, "the file is forgotten", func() bool { return m.len() == 0 })
	f.append("a.log", "another\n")
	r.expect("another")
	r.stop()
}

func TestATruncatedFileIsReadFromItsBeginning(t *testing.T) {
	for name, after := range map[string]string{
		"shorter":     "new\n",
		"of one size": "NEW LINES ARE 20 by\n",
		"longer":      "new and much longer than before\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.append("a.log", "old lines of 20 byt\n")
			r := begin(t, newNotes(), Config{Include: []string{f.path("a.log")}})
			before := r.expect("old lines of 20 byt")
			f.truncate("a.log")
			f.append("a.log", after)
			got := r.expect(strings.TrimSuffix(after, "\n"))
			if a, b := before[0].Origin, got[0].Origin; a.Source == b.Source || b.Offset != 0 {
				t.Errorf("%+v before, %+v after", a, b)
			}
			r.stop()
		})
	}
}

func TestATruncatedFileThatWasClosedMeanwhileIsReadFromItsBeginning(t *testing.T) {
	for name, after := range map[string]string{"shorter": "2\n", "longer": "not what it was before\n"} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.append("a", "first of a\n")
			f.append("b", "first of b\n")
			r := begin(t, newNotes(), Config{Include: []string{f.path("*")}, MaxOpenFiles: 1})
			r.expect("first of a", "first of b") // a is closed to make room
			f.truncate("a")
			f.append("a", after)
			r.expect(strings.TrimSuffix(after, "\n"))
			r.stop()
		})
	}
}

func TestAFileThatWasClosedAndRenamedIsFound(t *testing.T) {
	f := newFolder(t)
	f.append("a", "1\n")
	f.append("b", "2\n")
	r := begin(t, newNotes(), Config{Include: []string{f.path("a"), f.path("b")}, MaxOpenFiles: 1})
	r.expect("1", "2") // a is closed
	f.append("a", "3\n")
	f.rename("a", "a.1")
	r.expect("3")
	r.stop()
}

func TestAPlaceIsKeptFromRunToRun(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	c := Config{Include: []string{f.path("*.log")}}
	f.append("a.log", "1\n2\n")
	r := begin(t, m, c)
	first := r.expect("1", "2")
	r.stop()
	f.append("a.log", "3\n")
	r = begin(t, m, c)
	third := r.expect("3")
	r.nothing()
	r.stop()
	if a, b := first[0].Origin.Source, third[0].Origin.Source; a != b {
		t.Errorf("the file was %s and is %s", a, b)
	}
}

func TestALineUnderWayAtAStopIsSentAgain(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	c := Config{Include: []string{f.path("a")}}
	f.append("a", "1\n2\n3\n")
	r := begin(t, m, c)
	r.expect("1")
	two := r.next()
	r.expect("3")
	r.stop()
	r = begin(t, m, c)
	again := r.expect("2", "3")
	if again[0].Origin.Offset != two.Message.Origin.Offset || again[0].Origin.Source != two.Message.Origin.Source {
		t.Errorf("%+v, was %+v", again[0].Origin, two.Message.Origin)
	}
	r.stop()
}

func TestAfterAKillLinesHaveTheOriginTheyHad(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	c := Config{Include: []string{f.path("a")}}
	f.append("a", "1\n2\n")
	r := begin(t, m, c)
	before := r.expect("1", "2")
	r.kill() // the note still says the beginning
	f.append("a", "3\n")
	r = begin(t, m, c)
	after := r.expect("1", "2", "3")
	for i := range before {
		if a, b := before[i].Origin, after[i].Origin; a.Source != b.Source || a.Offset != b.Offset {
			t.Errorf("line %d: %+v, was %+v", i, b, a)
		}
	}
	r.stop()
}

func TestLinesInThePlacesOfOthersHaveAnotherOrigin(t *testing.T) {
	for name, atFirst := range map[string]string{"empty at first": "", "a heading at first": "time,level\n"} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			m := newNotes()
			c := Config{Include: []string{f.path("a")}}
			f.append("a", atFirst)
			r := begin(t, m, c)
			if atFirst != "" {
				r.expect("time,level")
			}
			eventually(t, "the file is noted", func() bool { return m.len() == 1 })
			f.append("a", "1\n2\n")
			before := r.expect("1", "2")
			r.kill()
			f.truncate("a")
			f.append("a", atFirst+"3\n4\n")
			r = begin(t, m, c)
			if atFirst != "" {
				r.expect("time,level")
			}
			after := r.expect("3", "4")
			for i := range before {
				if a, b := before[i].Origin, after[i].Origin; a.Source == b.Source {
					t.Errorf("line %d: %+v looks as if it were the one before, %+v", i, b, a)
				}
			}
			r.stop()
		})
	}
}

func TestPlacesAreNotedWhileItRuns(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	c := Config{Include: []string{f.path("a")}}
	f.append("a", "1\n2\n")
	r := begin(t, m, c)
	r.expect("1", "2")
	eventually(t, "the place is noted", func() bool {
		all, _ := m.Notes(context.Background(), room)
		for _, n := range all {
			kept, err := parseNote(n.Value)
			return err == nil && kept.Offset == 4
		}
		return false
	})
	r.kill()
	f.append("a", "3\n")
	r = begin(t, m, c)
	r.expect("3")
	r.stop()
}

func TestWhatHappenedWhileNobodyReadIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(f folder)
		want    []string
	}{
		"renamed, new one": {func(f folder) {
			f.append("a.log", "3\n")
			f.rename("a.log", "a.log.1")
			f.append("a.log", "new\n")
		}, []string{"3", "new"}},
		"renamed": {func(f folder) {
			f.append("a.log", "3\n")
			f.rename("a.log", "old-a")
		}, []string{"3"}},
		"written anew in place": {func(f folder) {
			f.truncate("a.log")
			f.append("a.log", "1\n2\nand now for something different\n")
		}, []string{"and now for something different"}}, // the same bytes as before are the same lines
		"written anew, other bytes": {func(f folder) {
			f.truncate("a.log")
			f.append("a.log", "8\n9\n10\n")
		}, []string{"8", "9", "10"}},
		"truncated": {func(f folder) {
			f.truncate("a.log")
			f.append("a.log", "x\n")
		}, []string{"x"}},
		"deleted, made again": {func(f folder) {
			f.check(os.Remove(f.path("a.log")))
			f.append("a.log", "1\n2\nmade again\n")
		}, []string{"1", "2", "made again"}}, // born later: another file, also on the same inode
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			m := newNotes()
			config := Config{Include: []string{f.path("*.log")}}
			f.append("a.log", "1\n2\n")
			r := begin(t, m, config)
			r.expect("1", "2")
			r.stop()
			c.happens(f)
			r = begin(t, m, config)
			r.expect(c.want...)
			r.nothing()
			r.stop()
		})
	}
}

func TestAFileThatWasRenamedIsFinishedInAsManyRunsAsItTakes(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	c := Config{Include: []string{f.path("a")}, RotateWait: time.Hour}
	f.append("a", "1\n2\n3\n")
	r := begin(t, m, c)
	r.expect("1")
	r.kill()
	f.rename("a", "a.1")
	for range 3 {
		r = begin(t, m, c)
		r.expect("1")
		r.kill()
	}
	r = begin(t, m, c)
	r.expect("1", "2", "3")
	r.stop()
}

func TestFilesAreSeenWhileThePipelineTakesNothing(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	text, want := numbered("1 ", 2*outboxSize)
	f.append("a", text)
	r := begin(t, m, Config{Include: []string{f.path("a")}})
	for i := 1; i <= 3; i++ { // nobody takes a line while the file is renamed three times
		eventually(t, "the file is noted", func() bool { return m.len() == i })
		f.rename("a", fmt.Sprintf("a.%d", i))
		f.append("a", fmt.Sprintf("of file %d\n", i+1))
	}
	eventually(t, "the last file is noted", func() bool { return m.len() == 4 })
	r.expect(append(want, "of file 2", "of file 3", "of file 4")...)
	r.stop()
}

func TestNotesOfFilesThatAreGoneAreForgotten(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	for i := range 5 {
		f.append(fmt.Sprint(i), "1\n")
	}
	c := Config{Include: []string{f.path("*")}, RotateWait: time.Hour}
	r := begin(t, m, c)
	r.expect("1", "1", "1", "1", "1")
	r.stop()
	for i := range 4 {
		f.check(os.Remove(f.path(fmt.Sprint(i))))
	}
	r = begin(t, m, c)
	eventually(t, "four are forgotten", func() bool { return m.len() == 1 })
	r.stop()
}

func TestTwoSourcesKeepTheirPlacesApart(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	f.append("a", "1\n")
	r := begin(t, m, Config{Include: []string{f.path("a")}})
	r.expect("1")
	r.stop()
	made, err := New(Config{Include: []string{f.path("a")}}, component.Env{Name: "logs 2"})
	f.check(err)
	other := made.(*Source)
	other.memory = m
	f.check(other.Start(t.Context()))
	if len(other.known) != 0 {
		t.Errorf("it knows %v", other.known)
	}
}
