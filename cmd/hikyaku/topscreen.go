package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// What a terminal is told: the other screen without a cursor, and back.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// maxTopFilter bounds what is typed as a filter, in bytes.
const maxTopFilter = 100

// topScreen is what top shows on a terminal, and what was typed so far.
type topScreen struct {
	terminal
	height  int
	url     string
	ask     httpdoor.TopRequest
	rows    int // that were asked for on the command line; 0: what fits
	table   int
	sorts   [3]int // of each table
	editing bool   // the filter is being typed
	top     httpdoor.Top
	trouble error // why top is not of now
}

// watchTop shows the tables until somebody quits or ctx ends, and leaves the terminal as it was.
func watchTop(ctx context.Context, c *httpdoor.Client, f *topFlags, in, out *os.File) error {
	s := &topScreen{url: f.url, ask: f.ask, rows: f.ask.Max}
	s.sorts[0] = slices.Index(topTables[0].sorts, f.ask.Sort)
	s.measure(out)
	var err error
	if s.top, err = c.Top(ctx, s.request()); err != nil {
		return unlessDone(ctx, err)
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("take the terminal's keys: %w", err)
	}
	defer func() { // also of a panic
		_, _ = io.WriteString(out, leaveScreen)
		_ = term.Restore(int(in.Fd()), before)
	}()
	if _, err := io.WriteString(out, enterScreen); err != nil {
		return err
	}
	return s.follow(ctx, c, f.interval, in, out)
}

// unlessDone is nil for an error that came of the end of ctx.
func unlessDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// answer is what the server said, or why it did not.
type answer struct {
	top httpdoor.Top
	err error
}

// follow draws what there is whenever something changes. Keys are taken also while the server does not answer.
func (s *topScreen) follow(ctx context.Context, c *httpdoor.Client, every time.Duration, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	keys := make(chan []byte)
	go readKeys(ctx, in, keys) // a read of a terminal cannot be called off: it ends with the next key, or the process
	resized, still := onResize()
	defer still()
	tick := time.NewTicker(every)
	defer tick.Stop()
	answers := make(chan answer, 1)
	busy, again := false, false
	look := func() {
		if again = busy; busy {
			return
		}
		busy = true
		r := s.request()
		asking.Go(func() {
			t, err := c.Top(ctx, r)
			answers <- answer{t, err}
		})
	}
	for {
		s.measure(out)
		if _, err := io.WriteString(out, s.frame()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case a := <-answers:
			busy = false
			if s.trouble = a.err; a.err == nil {
				s.top = a.top
			}
			if again {
				look()
			}
		case <-tick.C:
			look()
		case <-resized:
			look()
		case typed, ok := <-keys:
			if !ok || s.typed(typed) {
				return nil
			}
			look()
		}
	}
}

// readKeys hands out what is typed, as it comes, and closes keys at its end.
func readKeys(ctx context.Context, in io.Reader, keys chan<- []byte) {
	defer close(keys)
	for {
		typed := make([]byte, 256)
		n, err := in.Read(typed)
		if err != nil {
			return
		}
		select {
		case keys <- typed[:n]:
		case <-ctx.Done():
			return
		}
	}
}

// measure looks how large the terminal is.
func (s *topScreen) measure(out *os.File) {
	s.terminal, s.height = terminalOf(out), 24
	if _, height, err := term.GetSize(int(out.Fd())); err == nil && height > 0 {
		s.height = height
	}
}

// frameLines is how many lines a frame has beside rows: what it is of, the tables, a blank one, headings, a rule, keys.
const frameLines = 6

// request asks for what fits on the screen.
func (s *topScreen) request() httpdoor.TopRequest {
	r := s.ask
	r.Sort = topTables[0].sorts[s.sorts[0]]
	r.Max = min(max(1, s.height-frameLines), httpdoor.MaxTop)
	if s.rows > 0 {
		r.Max = min(r.Max, s.rows)
	}
	return r
}

// The keys that are no characters.
const (
	ctrlC, tab, enter, newline, escape, backspace, del = 3, '\t', '\r', '\n', 0x1b, 8, 0x7f
)

// typed does what keys say; true: quit.
func (s *topScreen) typed(text []byte) (quit bool) {
	if len(text) > 1 && text[0] == escape {
		switch string(text) {
		case "\x1b[C", "\x1bOC", "\x1b[B", "\x1bOB":
			s.turn(1)
		case "\x1b[D", "\x1bOD", "\x1b[A", "\x1bOA", "\x1b[Z":
			s.turn(-1)
		}
		return false
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if s.editing && r != ctrlC {
			s.edit(r)
			continue
		}
		switch r {
		case 'q', 'Q', ctrlC:
			return true
		case tab:
			s.turn(1)
		case 's':
			s.sort(1)
		case 'S':
			s.sort(-1)
		case '/':
			s.editing = true
		case escape:
			s.ask.Filter = ""
		}
	}
	return false
}

// turn goes to another table.
func (s *topScreen) turn(by int) { s.table = (s.table + by + len(topTables)) % len(topTables) }

// sort sorts the table by another column.
func (s *topScreen) sort(by int) {
	n := len(topTables[s.table].sorts)
	s.sorts[s.table] = (s.sorts[s.table] + by + n) % n
}

// edit changes the filter.
func (s *topScreen) edit(r rune) {
	switch r {
	case enter, newline:
		s.editing = false
	case escape:
		s.editing, s.ask.Filter = false, ""
	case backspace, del:
		_, n := utf8.DecodeLastRuneInString(s.ask.Filter)
		s.ask.Filter = s.ask.Filter[:len(s.ask.Filter)-n]
	default:
		if r != utf8.RuneError && unicode.IsPrint(r) && len(s.ask.Filter) < maxTopFilter {
			s.ask.Filter += string(r)
		}
	}
}

// frame is the whole screen, drawn over the one before: each line wipes what is behind it, so that nothing flickers.
func (s *topScreen) frame() string {
	lines := []string{s.line(bold, "hikyaku top  "+s.url+"  "+s.top.Time.Local().Format(time.TimeOnly)+"  "+
		topSummary(&s.top)), s.tabs(), ""}
	t := &topTables[s.table]
	text := t.text(&s.top, t.sorts[s.sorts[s.table]], s.width)
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		colour := ""
		if i == 0 {
			colour = bold
		}
		lines = append(lines, s.line(colour, l))
	}
	if most := max(1, s.height-1); len(lines) > most {
		lines = lines[:most]
	}
	lines = append(lines, s.foot())
	return "\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J"
}

// line is a text that fits into the screen, in a colour if it has one.
func (s *topScreen) line(colour, text string) string {
	if text = measure.Line(text, s.width); colour == "" {
		return text
	}
	return s.paint(colour, text)
}

// tabs shows which table this is, and of what.
func (s *topScreen) tabs() string {
	var names []string
	for i := range topTables {
		if i == s.table {
			names = append(names, "["+topTables[i].name+"]")
			continue
		}
		names = append(names, " "+topTables[i].name+" ")
	}
	text := strings.Join(names, " ") + "  by " + topTables[s.table].sorts[s.sorts[s.table]]
	if s.ask.Filter != "" && !s.editing {
		text += "  only with " + s.ask.Filter
	}
	return s.line("", text)
}

// foot says which keys there are, or what is the matter.
func (s *topScreen) foot() string {
	switch {
	case s.editing:
		return s.line("", "/"+s.ask.Filter+"_")
	case s.trouble != nil:
		return s.line(bold, "not of now: "+s.trouble.Error())
	}
	return s.line(faint, "q quit  tab next table  s sort  / filter")
}
