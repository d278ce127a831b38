package gate

import (
	"encoding/binary"
	"errors"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
)

// prepare reads a statement that is to be prepared, and lets the library have it if nothing is wrong with it.
func (g *Conn) prepare(h [4]byte, n int) (done bool, err error) {
	whole := append([]byte(nil), h[:]...)
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
		text, whole = append(text, part...), append(whole, part...)
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
		whole = append(whole, last[:]...)
	}
	wrong := g.config.Prepare(string(text[1:]))
	if wrong == nil {
		g.ready = whole
		return true, nil
	}
	code, state := erUnknown, "HY000"
	var known *vmysql.SQLError
	message := wrong.Error()
	if errors.As(wrong, &known) {
		code, state, message = known.Num, known.State, known.Message
	}
	g.answer(last[3]+1, uint16(code), state, message)
	return false, nil
}

// values counts what is sent of a prepared statement's values in pieces, until they are used or forgotten.
func (g *Conn) values(h [4]byte, n int, command byte) error {
	const head = 1 + 4 // the command and the statement's number
	if n < head {
		return nil // the library refuses it
	}
	if err := g.fill(head); err != nil {
		return err
	}
	b, err := g.in.Peek(head)
	if err != nil {
		return err
	}
	id := binary.LittleEndian.Uint32(b[1:])
	if command != comLongData {
		if command == comExecute {
			g.taken += g.long[id] // until it is answered
		} else {
			g.config.Budget.Give(g.long[id])
		}
		g.longBytes -= g.long[id]
		delete(g.long, id)
		return nil
	}
	if g.longBytes+int64(n) > g.config.MaxPacket {
		g.answer(h[3]+1, erPacketTooLarge, "08S01", "The values that were sent for prepared statements and not used yet are larger than 'max_allowed_packet'")
		return ErrTooLarge
	}
	if !g.config.Budget.Try(int64(n)) {
		g.answer(h[3]+1, erOutOfResources, "HY000", "Out of memory: too much of other statements is being worked on (try again; max_busy_bytes bounds it)")
		return door.ErrBusy
	}
	if g.long == nil {
		g.long = map[uint32]int64{}
	}
	g.long[id] += int64(n)
	g.longBytes += int64(n)
	return nil
}

// forget is what a reset of the connection does to the values.
func (g *Conn) forget() {
	g.config.Budget.Give(g.longBytes)
	g.long, g.longBytes = nil, 0
}
