package logbook

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzLines cuts what a program prints, in any pieces, into the lines that it has as a whole, none of them too long.
func FuzzLines(f *testing.F) {
	f.Add([]byte("hello\nworld\r\n\nno end"), 3)
	f.Add([]byte("\r\r\n\x00\xff"), 1)
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), maxLine/16+1), 1000)
	f.Add(append(bytes.Repeat([]byte("x"), maxLine-1), "\r\nabc\n"...), 7)
	f.Fuzz(func(t *testing.T, printed []byte, piece int) {
		piece = 1 + max(piece, -piece-1)%(4<<10)
		var whole, pieces []string
		one := splitter{line: func(text string) { whole = append(whole, text) }}
		one.write(printed)
		one.flush()
		many := splitter{line: func(text string) { pieces = append(pieces, text) }}
		for rest := printed; len(rest) > 0; {
			n := min(piece, len(rest))
			many.write(rest[:n])
			rest = rest[n:]
		}
		many.flush()
		if strings.Join(whole, "\n") != strings.Join(pieces, "\n") || len(whole) != len(pieces) {
			t.Errorf("%.100q is %.100q, and in pieces of %d %.100q", printed, whole, piece, pieces)
		}
		for _, line := range whole {
			if len(line) > maxLine || strings.Contains(line, "\n") {
				t.Errorf("a line of %d bytes: %.100q", len(line), line)
			}
		}
	})
}
