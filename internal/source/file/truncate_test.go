package file

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// heading is what some programs write at the beginning of each of their files: more than the digest of a head covers.
var heading = strings.Repeat("=", headBytes) + "\n"

// TestLinesOfAFileThatIsTruncatedBeforeItsFirstLineIsReadAreItsOwn: between the look that finds a file and the first
// line read of it there is time, as long as it takes to note the file. New lines must not get the Origin of old ones,
// which a queue has.
func TestLinesOfAFileThatIsTruncatedBeforeItsFirstLineIsReadAreItsOwn(t *testing.T) {
	for name, noted := range map[string]func(r *running){
		"never read":         nil,
		"noted at its start": (*running).kill,
		"noted at its end":   (*running).stop,
	} {
		for size, after := range map[string][]string{
			"shorter": {"3"},
			"as long": {"3", "4"},
			"longer":  {"3", "4", "5", "6"},
		} {
			t.Run(name+", "+size, func(t *testing.T) {
				f := newFolder(t)
				m := newNotes()
				c := Config{Include: []string{f.path("a")}}
				f.append("a", "1\n2\n")
				before := ""
				if noted != nil {
					r := begin(t, m, c)
					before = r.expect("1", "2")[0].Origin.Source
					noted(r)
				}
				r := prepare(t, m, c)
				f.check(r.look(t.Context()))
				f.truncate("a")
				f.append("a", strings.Join(after, "\n")+"\n")
				r.run()
				got := r.expect(after...)
				r.nothing()
				if o := got[0].Origin; o.Source == before || o.Offset != 0 {
					t.Errorf("%+v is the Origin of another line", o)
				}
				r.kill()
				r = begin(t, m, c) // and the note speaks of what was read
				again := r.expect(after...)
				if got[0].Origin.Source != again[0].Origin.Source {
					t.Errorf("%+v, was %+v", again[0].Origin, got[0].Origin)
				}
				r.stop()
			})
		}
	}
}

// TestANoteDoesNotVouchForWhatTookTheFilesPlace: a place is noted while the reader has not seen yet that the file was
// truncated.
func TestANoteDoesNotVouchForWhatTookTheFilesPlace(t *testing.T) {
	for name, head := range map[string]string{"": "", "under one heading": heading} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			m := newNotes()
			c := Config{Include: []string{f.path("a")}, PollInterval: time.Hour}
			f.append("a", head+"1\n2\n")
			want := []string{"3", "4", "5"}
			r := beginAs(t, m, c, false)
			if head != "" {
				r.expect(strings.TrimSpace(head))
				want = append([]string{strings.TrimSpace(head)}, want...)
			}
			r.expect("1", "2")
			f.truncate("a")
			f.append("a", head+"3\n4\n5\n")
			r.stop()
			r = begin(t, m, c)
			r.expect(want...)
			r.nothing()
			r.stop()
		})
	}
}

func TestAFileThatIsTruncatedWhileItIsReadIsReadFromItsBeginning(t *testing.T) {
	f := newFolder(t)
	text, _ := numbered("old ", 4*outboxSize)
	f.append("a", heading+text)
	r := begin(t, newNotes(), Config{Include: []string{f.path("a")}})
	before := r.expect(strings.TrimSpace(heading), "old a")
	f.truncate("a")
	f.append("a", heading+"new\n"+text) // beyond where it is read
	source := before[0].Origin.Source
	for d := r.next(); ; d = r.next() {
		d.Settle(component.OK(time.Now()))
		switch b := string(d.Message.Body); {
		case d.Message.Origin.Source == source && strings.HasPrefix(b, "old "):
		case d.Message.Origin.Source != source && b == strings.TrimSpace(heading):
			r.expect("new", "old a")
			r.kill()
			return
		default:
			t.Fatalf("%q at %+v", b, d.Message.Origin)
		}
	}
}

func TestACursorVouchesForWhatItHandsOut(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 100)
	for name, c := range map[string]struct {
		at     int64
		before string // the file when the cursor begins
		after  string // and when it reads
		want   string // "-": it finds out
	}{
		"nothing yet":        {0, "", "ab", "ab"},
		"grown":              {2, "ab", "abcd", "cd"},
		"grown from nothing": {0, "ab", "abcd", "abcd"},
		"other":              {2, "ab", "xycd", "-"},
		"unread and other":   {0, "ab", "xy", "-"},
		"shorter":            {2, "ab", "a", "-"},
		"empty":              {0, "ab", "", "-"},
		"too short at first": {3, "ab", "ab", "-"},
		"other far back":     {1600, long, "x" + long[1:] + "more", "-"},
		"other close before": {1600, long, long[:1599] + "x" + "more", "-"},
		"far":                {1600, long, long + "more", "more"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.append("a", c.before)
			file, err := os.OpenFile(f.path("a"), os.O_RDWR, 0)
			f.check(err)
			defer file.Close()
			tail := &tail{next: c.at}
			f.check(tail.use(file))
			f.truncate("a")
			f.append("a", c.after)
			b := make([]byte, 4<<10)
			n, err := tail.cursor.Read(b)
			if got := string(b[:n]); c.want == "-" && err != errRewritten || c.want != "-" &&
				(err != nil || got != c.want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestALineIsKnownByTheNoteOfItsOwnContent(t *testing.T) {
	for name, c := range map[string]struct {
		saved note
		end   int64
		known bool
	}{
		"never noted":        {note{}, 1, false},
		"noted":              {note{Source: "s", HeadBytes: 5}, 5, true},
		"noted not so far":   {note{Source: "s", HeadBytes: 5}, 6, false},
		"far into it":        {note{Source: "s", HeadBytes: headBytes}, 1 << 30, true},
		"what was before it": {note{Source: "r", HeadBytes: headBytes}, 1, false},
	} {
		if got := (&tail{source: "s", saved: c.saved}).known(c.end); got != c.known {
			t.Errorf("%s: %v", name, got)
		}
	}
}
