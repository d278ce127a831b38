//go:build linux

package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// logger is a program that writes a log, and the one that rotates it.
type logger struct {
	t      *testing.T
	random *rand.Rand
	name   string // of its folder and its queue
	path   string
	file   *os.File
	rest   string // of a line whose beginning is written

	lines, wanted      int
	before             int  // lines before the current file's
	known              bool // the program was seen to have lines of the current file
	renamed, truncated int
}

func newLogger(t *testing.T, random *rand.Rand, dir, name string) *logger {
	l := &logger{t: t, random: random, name: name, path: filepath.Join(dir, name, "app.log")}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		t.Fatal(err)
	}
	l.create()
	t.Cleanup(func() { l.file.Close() })
	return l
}

func (l *logger) create() {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		l.t.Fatal(err)
	}
	l.file, l.before, l.known = f, l.lines, false
}

// step does one thing or another. s is nil while the program is dead.
func (l *logger) step(s *served) {
	switch what := l.random.IntN(20); {
	case what < 16:
		l.append(1 + l.random.IntN(30))
	case what < 18:
		l.rename(s)
	default:
		l.truncate(s)
	}
}

// append writes lines, and sometimes the beginning of one that the next call ends.
func (l *logger) append(n int) {
	var b strings.Builder
	b.WriteString(l.rest)
	l.rest = ""
	for range n {
		b.WriteString(l.next())
	}
	text := b.String()
	if l.random.IntN(3) == 0 {
		next := l.next()
		cut := 1 + l.random.IntN(len(next)-1)
		text += next[:cut]
		l.rest = next[cut:]
	}
	l.write(text)
}

func (l *logger) next() string {
	one := line{From: l.name, N: l.lines, Wanted: l.random.IntN(3) > 0, Pad: strings.Repeat("x", l.random.IntN(100))}
	text, err := json.Marshal(one)
	if err != nil {
		l.t.Fatal(err)
	}
	l.lines++
	if one.Wanted {
		l.wanted++
	}
	return string(text) + "\n"
}

func (l *logger) write(text string) {
	if _, err := l.file.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
}

// finishLine ends a line that was begun.
func (l *logger) finishLine() {
	l.write(l.rest)
	l.rest = ""
}

// rename rotates by a new file. A log whose old files have names that are not wanted is rotated only when the program
// has seen the current one: of a file that came and went behind its back it cannot know.
func (l *logger) rename(s *served) {
	if s != nil {
		l.arrived(s)
	}
	if l.name == slimQueue && !l.known {
		return
	}
	l.finishLine()
	l.renamed++
	if err := os.Rename(l.path, fmt.Sprintf("%s.%d", l.path, l.renamed)); err != nil {
		l.t.Fatal(err)
	}
	if err := l.file.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.create()
}

// truncate rotates by truncation, which loses what nobody has read: it is done when all of it is in the queue. Half of
// the time the program is killed first, and new lines are written before it lives again.
func (l *logger) truncate(s *served) {
	if s == nil {
		return
	}
	l.finishLine()
	until(l.t, func() string {
		return fmt.Sprintf("%s has %d lines in its queue, but %d", l.name, l.lines, l.arrived(s))
	}, func() bool { return l.arrived(s) >= l.lines })
	if l.random.IntN(2) == 0 {
		s.kill()
	}
	l.truncated++
	if err := os.Truncate(l.path, 0); err != nil {
		l.t.Fatal(err)
	}
	l.before, l.known = l.lines, false
	l.append(1 + l.random.IntN(30))
}

// arrived is how many of the lines are in the queue, or were.
func (l *logger) arrived(s *served) int {
	n := int(s.stats(l.t, l.name).Totals.Put)
	if n > l.lines {
		l.t.Fatalf("of %d lines of %s came %d: some are doubled\n%s", l.lines, l.name, n, s.log())
	}
	l.known = l.known || n > l.before
	return n
}
