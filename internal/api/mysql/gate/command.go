package gate

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Command is a command that the library does not know, or answers otherwise than MySQL: COM_CHANGE_USER,
// COM_RESET_CONNECTION, COM_STATISTICS, COM_PROCESS_KILL and COM_REFRESH. It is for the function that Config.Command
// is, while it runs.
type Command struct {
	Code    byte
	Payload []byte // behind the code

	gate     *Conn
	sequence *byte // of the packet that was read or written last
}

// The codes of commands.
const (
	Refresh     = comRefresh
	Statistics  = comStatistics
	Kill        = comKill
	ChangeUser  = comChange
	ResetClient = comRestart
)

// maxOwn is how many bytes of a command are read here: a COM_CHANGE_USER has the attributes of the connection, at most
// 64 KiB.
const maxOwn = 128 << 10

// own reads a command and answers it, before the library reads on. One that begins a connection anew lets the library
// end its cursor first.
func (g *Conn) own(h [4]byte, n int) (done bool, err error) {
	if n > maxOwn {
		return false, fmt.Errorf("%w: a command of %d bytes", ErrMalformed, n)
	}
	text := make([]byte, n)
	if err := g.full4(text); err != nil {
		return false, err
	}
	sequence := h[3]
	c := Command{Code: text[0], Payload: text[1:], gate: g, sequence: &sequence}
	if c.Code != comChange && c.Code != comRestart {
		return false, g.config.Command(c)
	}
	g.forget()
	g.pending = func() error { return g.config.Command(c) }
	g.ready = append(g.ready, 5, 0, 0, 0, comClose) // has no answer, and ends a cursor
	g.ready = binary.LittleEndian.AppendUint32(g.ready, math.MaxUint32)
	return true, nil
}

// full4 reads all of p of a packet that has begun.
func (g *Conn) full4(p []byte) error {
	for at := 0; at < len(p); {
		n, err := g.payload(p[at:])
		if at += n; err != nil {
			return err
		}
	}
	return nil
}

// Say writes a packet.
func (c Command) Say(payload []byte) error {
	*c.sequence++
	n := len(payload)
	_, err := c.gate.Conn.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), *c.sequence}, payload...))
	return err
}

// Ask writes a packet and reads the client's answer, of at most 64 KiB.
func (c Command) Ask(payload []byte) ([]byte, error) {
	if err := c.Say(payload); err != nil {
		return nil, err
	}
	g := c.gate
	g.expect(0)
	var h [4]byte
	if err := g.full4(h[:]); err != nil {
		return nil, err
	}
	if n := length(h); n > small || h[3] != *c.sequence+1 {
		return nil, fmt.Errorf("%w: %d bytes in the middle of a command", ErrMalformed, n)
	}
	*c.sequence = h[3]
	answer := make([]byte, length(h))
	return answer, g.full4(answer)
}

// OK answers that the command was done.
func (c Command) OK(status uint16) error {
	return c.Say(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte{0, 0, 0}, status), 0))
}

// Refuse answers with an error: *mysql.SQLError, or another.
func (c Command) Refuse(err error) error {
	r := refusalOf(err)
	payload := append(binary.LittleEndian.AppendUint16([]byte{0xff}, r.code), '#')
	return c.Say(append(append(payload, r.state...), r.text...))
}

// End refuses, and ends the connection.
func (c Command) End(err error) error {
	if err := c.Refuse(err); err != nil {
		return err
	}
	return io.EOF
}
