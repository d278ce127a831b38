package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/hikyaku/hikyaku/internal/measure"
)

const (
	redrawEvery = 100 * time.Millisecond
	widestBar   = 60 // columns
)

// live shows the hops on a terminal while they are collected, until the function that it returns is called, which wipes
// them away. Where there is no terminal it shows nothing.
func (t *campaignHops) live(to *os.File, users int) (end func()) {
	if !term.IsTerminal(int(to.Fd())) {
		return func() {}
	}
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		tick := time.NewTicker(redrawEvery)
		defer tick.Stop()
		lines := 0
		for {
			select {
			case <-done:
				rewind(to, lines)
				return
			case <-tick.C:
				rewind(to, lines)
				lines = t.draw(to, terminalOf(to), users) // its width may have changed
			}
		}
	})
	return func() {
		close(done)
		drawing.Wait()
	}
}

// rewind wipes the last lines away.
func rewind(w io.Writer, lines int) {
	if lines > 0 {
		fmt.Fprintf(w, "\x1b[%dA\x1b[J", lines)
	}
}

// draw shows how things stand, and returns how many lines that took.
func (t *campaignHops) draw(w io.Writer, s terminal, users int) int {
	var text bytes.Buffer
	told, since := t.done(), time.Since(t.start)
	fmt.Fprintf(&text, "%s\n%s of %s users in %s, %s\n\n", s.bar(told, int64(users), widestBar),
		measure.Count(told), measure.Count(int64(users)), measure.Duration(since),
		measure.Rate(float64(told)/since.Seconds()))
	if err := t.table(s).WriteText(&text); err != nil {
		return 0
	}
	lines := bytes.Count(text.Bytes(), []byte("\n"))
	_, _ = w.Write(text.Bytes()) // nothing depends on it
	return lines
}
