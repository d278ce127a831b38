package gate

import (
	"encoding/binary"
	"errors"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// prepare reads a statement that is to be prepared, and lets the library have it if nothing is wrong with it.
func (g *Conn) prepare(h [4]byte, n int) (done bool, err error) {
	var text []byte
	last := h
	for {
		part := make([]byte, n)
		for at := 0; at < n; {
			k, err := g.payload(part[at:])
			if at += k; err != nil {
				return false, err
			}
		}
		text = append(text, part...)
		if n < fullPacket {
			break
		}
		g.full = true
		if last, err = g.header(); err != nil {
			return false, err
		}
		g.full = false
		n = length(last)
		if err := g.admit(last, n); err != nil {
			return false, err
		}
	}
	query := string(text[1:])
	read, wrong := g.config.Prepare(query)
	if wrong == nil {
		if read != query {
			text = append(text[:1], read...)
		}
		g.ready = packets(h[3], text)
		return true, nil
	}
	r := refusalOf(wrong)
	g.answer(last[3]+1, r.code, r.state, r.text)
	return false, nil
}

// packets are the packets of a command.
func packets(sequence byte, text []byte) []byte {
	all := make([]byte, 0, len(text)+4*(2+len(text)/fullPacket))
	for {
		n := min(len(text), fullPacket)
		all = append(append(all, byte(n), byte(n>>8), byte(n>>16), sequence), text[:n]...)
		if text = text[n:]; n < fullPacket {
			return all
		}
		sequence++
	}
}

// refusal is an error packet to be.
type refusal struct {
	code        uint16
	state, text string
}

func refusalOf(err error) *refusal {
	var known *vmysql.SQLError
	if errors.As(err, &known) {
		return &refusal{uint16(known.Num), known.State, known.Message}
	}
	return &refusal{erUnknown, "HY000", err.Error()}
}

// Cursor tells whether the statement that is executed is to have a cursor: its rows are fetched when the client likes.
func (g *Conn) Cursor() bool { return g.cursor }

// Fail says what is wrong with a statement that was to have a cursor: the library only says that something is.
func (g *Conn) Fail(err error) { g.failed = refusalOf(err) }

// Write writes what the library answers.
func (g *Conn) Write(p []byte) (int, error) {
	if g.midway != nil {
		return g.hold(p)
	}
	if g.fetched != nil {
		p = g.fetched.told(p)
	}
	r := g.failed
	if r == nil || len(p) < 5 || p[4] != 0xff {
		return g.Conn.Write(p)
	}
	g.failed = nil
	if _, err := g.Conn.Write(packet(p[3], r.code, r.state, r.text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// values counts what is sent of a prepared statement's values in pieces, until they are used or forgotten. done: the
// library is not to have the command.
func (g *Conn) values(h [4]byte, n int, command byte) (done bool, err error) {
	const head = 1 + 4 // the command and the statement's number
	if n < head {
		return false, nil // the library refuses it
	}
	if err := g.fill(min(n, head+1)); err != nil {
		return false, err
	}
	b, err := g.in.Peek(min(n, head+1))
	if err != nil {
		return false, err
	}
	id := binary.LittleEndian.Uint32(b[1:])
	if command == comLongData {
		return g.piece(h, n, id)
	}
	if command == comReset || g.spoiled[id] != nil {
		g.config.Forget(id)
	}
	if command == comClose {
		g.config.Closed(id)
	}
	if command == comExecute {
		g.cursor, g.failed = len(b) > head && b[head]&1 != 0, nil
		g.taken += g.long[id] // until it is answered
	} else {
		g.config.Budget.Give(g.long[id])
	}
	g.longBytes -= g.long[id]
	delete(g.long, id)
	r := g.spoiled[id]
	if delete(g.spoiled, id); r == nil || command != comExecute {
		return false, nil
	}
	last, err := g.skip(h, n)
	if err == nil {
		g.answer(last+1, r.code, r.state, r.text)
	}
	return true, err
}

// piece is a part of a value. There is no answer to it: what is wrong is said when the statement is executed.
func (g *Conn) piece(h [4]byte, n int, id uint32) (done bool, err error) {
	var r *refusal
	switch {
	case g.spoiled[id] != nil:
		_, err := g.skip(h, n)
		return true, err
	case g.longBytes+int64(n) > g.config.MaxPacket:
		r = &refusal{erPacketTooLarge, "08S01", "The values that were sent for prepared statements and not used yet " +
			"are larger than 'max_allowed_packet'"}
	case !g.config.Budget.Try(int64(n)):
		r = &refusal{erOutOfResources, "HY000", "Out of memory: too much of other statements is being worked on (try " +
			"again; max_busy_bytes bounds it)"}
	default:
		if g.long == nil {
			g.long = map[uint32]int64{}
		}
		g.long[id] += int64(n)
		g.longBytes += int64(n)
		return false, nil
	}
	if len(g.spoiled) >= maxSpoiled {
		return true, ErrTooLarge
	}
	if g.spoiled == nil {
		g.spoiled = map[uint32]*refusal{}
	}
	g.spoiled[id] = r
	_, err = g.skip(h, n)
	return true, err
}

// maxSpoiled is how many statements may have too many values at once: nobody sends that.
const maxSpoiled = 100

// skip throws away what is left of a command whose first packet was begun. It returns the number of its last packet.
func (g *Conn) skip(h [4]byte, n int) (last byte, err error) {
	for {
		for n > 0 {
			k, err := g.discard(n)
			if n -= k; err != nil {
				return 0, err
			}
		}
		if length(h) != fullPacket {
			g.full = false
			return h[3], nil
		}
		g.full = true
		if h, err = g.header(); err != nil {
			return 0, err
		}
		n = length(h)
		g.expect(n)
	}
}

// forget is what a reset of the connection does to the values.
func (g *Conn) forget() {
	g.config.Budget.Give(g.longBytes)
	g.long, g.longBytes, g.spoiled = nil, 0, nil
}
