package logbook

import "bytes"

// maxLine is how many bytes a line has at most; what is longer becomes several.
const maxLine = 64 << 10

// splitter cuts bytes into lines.
type splitter struct {
	line func(text string)
	rest []byte // the beginning of a line
}

func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			return
		}
		if len(s.rest) == 0 && i <= maxLine {
			s.line(text(p[:i]))
		} else {
			s.keep(p[:i])
			s.line(text(s.rest))
			s.rest = s.rest[:0]
		}
		p = p[i+1:]
	}
}

// keep lays the beginning of a line aside, and gives away what is too long for one.
func (s *splitter) keep(p []byte) {
	for len(s.rest)+len(p) > maxLine {
		n := maxLine - len(s.rest)
		s.rest = append(s.rest, p[:n]...)
		s.line(string(s.rest))
		s.rest, p = s.rest[:0], p[n:]
	}
	s.rest = append(s.rest, p...)
}

// flush gives the beginning of a line as if it had ended.
func (s *splitter) flush() {
	if len(s.rest) > 0 {
		s.line(text(s.rest))
	}
	s.rest = nil
}

func text(p []byte) string { return string(bytes.TrimSuffix(p, []byte("\r"))) }
