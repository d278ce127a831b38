package gate

import "errors"

// midway is an error that came when rows of an answer were written already. MySQL ends the answer with it; the library
// knows only the end of one that is whole. So it is made to write that, and the error is put in its place.
type midway struct {
	refusal
	tail []byte // the last bytes that the library has written, which are kept back
}

// lastBytes is the most that the last packet of an answer takes.
const lastBytes = 4 + 7

// EndWith lets the answer that is being written end with an error. The caller lets the library end it as one that is
// whole, and with no other behind it.
func (g *Conn) EndWith(err error) { g.midway = &midway{refusal: *refusalOf(err)} }

// hold writes what the library does, but for the last bytes.
func (g *Conn) hold(p []byte) (int, error) {
	m := g.midway
	if first := min(len(m.tail), len(m.tail)+len(p)-lastBytes); first > 0 {
		if _, err := g.Conn.Write(m.tail[:first]); err != nil {
			return 0, err
		}
		m.tail = m.tail[first:]
	}
	kept := min(len(p), lastBytes-len(m.tail))
	if whole := len(p) - kept; whole > 0 { // a row may be large: it is not copied
		if _, err := g.Conn.Write(p[:whole]); err != nil {
			return 0, err
		}
	}
	m.tail = append(m.tail, p[len(p)-kept:]...)
	return len(p), nil
}

// interrupted ends an answer with its error, if it has one, when the library comes for the next command.
func (g *Conn) interrupted() error {
	m := g.midway
	if m == nil {
		return nil
	}
	g.midway = nil
	at := lastPacket(m.tail)
	if at < 0 {
		return errors.New("an answer was to end with an error, and has not ended")
	}
	_, err := g.Conn.Write(append(m.tail[:at], packet(m.tail[at+3], m.code, m.state, m.text)...))
	return err
}

// lastPacket is where the last packet of an answer begins, of which the last bytes are given; negative: it is not
// there. It has one of two forms, as the client wishes.
func lastPacket(tail []byte) int {
	for _, length := range [...]byte{5, 7} {
		if at := len(tail) - 4 - int(length); at >= 0 && tail[at] == length && tail[at+1] == 0 && tail[at+2] == 0 &&
			tail[at+4] == endMark {
			return at
		}
	}
	return -1
}
