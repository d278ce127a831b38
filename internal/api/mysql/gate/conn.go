package gate

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"time"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
)

// Config says what a connection's client may send.
type Config struct {
	MaxPacket int64      // bytes of a command
	Budget    *door.Busy // of all connections; at least settings.Copies*MaxPacket
	// what the library gets of a statement that is to be prepared, or what is wrong with it: *mysql.SQLError or another
	Prepare func(query string) (read string, err error)
	// answers a command that the library does not know; nil: the library says so
	Command func(Command) error
	// takes the values that the library has of a prepared statement, before it is reset; nil: nothing
	Forget func(statement uint32)
	// is told of a prepared statement that is closed; nil: nobody is
	Closed func(statement uint32)
	// how long a client may send nothing of a command that has begun, and a command wait for its turn
	Stall time.Duration
}

// The errors that end a connection.
var (
	ErrTooLarge  = errors.New("the command is larger than max_allowed_packet")
	ErrMalformed = errors.New("the command cannot be read")
)

const (
	bufferBytes = 4 << 10        // of each connection: thousands of them are idle most of the time
	small       = 64 << 10       // bytes of a command that never waits
	fullPacket  = 1<<24 - 1      // a packet of this size is followed by another of the same command
	maxSkipped  = int64(1) << 30 // bytes of a command that is refused: the connection of who sends more just ends
)

// packetRate is how many bytes a second of a packet have to come at least, beside Config.Stall.
const packetRate = 32 << 10

// The commands that are looked at.
const (
	comRefresh    = 0x07
	comStatistics = 0x09
	comKill       = 0x0c
	comChange     = 0x11
	comPrepare    = 0x16
	comExecute    = 0x17
	comLongData   = 0x18
	comClose      = 0x19
	comReset      = 0x1a
	comFetch      = 0x1c
	comRestart    = 0x1f
)

// Conn is a connection through the gate. Read is for one goroutine at a time, the one that answers as well.
type Conn struct {
	net.Conn
	config Config
	in     *bufio.Reader
	ctx    context.Context // until Close
	end    context.CancelFunc

	ready []byte    // to be read by the library before anything else
	left  int       // bytes of the packet that in has still to bring
	full  bool      // the packet is followed by another of the same command
	size  int64     // bytes of the command so far
	until time.Time // the packet that is being read has to be here
	taken int64     // of the budget, for the command

	ending bool // no command is read after this one

	long      map[uint32]int64    // bytes of values sent in pieces, by statement
	longBytes int64               // of all; taken of the budget too
	spoiled   map[uint32]*refusal // statements whose values were too many, until they are executed, reset or closed
	cursor    bool                // the statement that is executed is to have a cursor
	failed    *refusal            // what is wrong with it, which the library does not say; nil: nothing
	fetched   *fetched            // the answer to the fetching of a cursor's rows; nil: that is not the command
	midway    *midway             // what the answer that is being written ends with; nil: it is whole

	pending func() error // a command that is answered here, once the library has let go of its cursor; nil: none
}

// Enter puts a gate before a connection of the protocol's library, whose client has shown who it is and waits to be
// told so.
func Enter(c *vmysql.Conn, config Config) error {
	// The library reads through a buffer that it keeps to itself, and has no other place where a statement could be
	// looked at before it is parsed.
	field := reflect.ValueOf(c).Elem().FieldByName("bufferedReader")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*bufio.Reader]() || field.IsNil() {
		return errors.New("the protocol's library has no buffer to put a gate before: this release of it is not " +
			"supported")
	}
	buffer := (*bufio.Reader)(field.UnsafePointer())
	if buffer.Buffered() > 0 {
		return fmt.Errorf("%w: it came before the client was let in", ErrMalformed)
	}
	g := New(c.Conn, config)
	c.Conn = g
	buffer.Reset(g)
	return nil
}

// New makes the gate of a connection that is between two commands.
func New(conn net.Conn, c Config) *Conn {
	g := &Conn{Conn: conn, config: c, in: bufio.NewReaderSize(conn, bufferBytes)}
	if g.config.Forget == nil {
		g.config.Forget = func(uint32) {}
	}
	if g.config.Closed == nil {
		g.config.Closed = func(uint32) {}
	}
	g.ctx, g.end = context.WithCancel(context.Background())
	return g
}

// NetConn is the connection below, for whoever looks for what carries it.
func (g *Conn) NetConn() net.Conn { return g.Conn }

// Close ends the connection, and a command's wait for its turn.
func (g *Conn) Close() error {
	g.end()
	return g.Conn.Close()
}

// End ends the connection once the command that is being worked on was answered.
func (g *Conn) End() { g.ending = true }

// Done gives back what the connection has of the budget. It is called when nobody reads any more.
func (g *Conn) Done() {
	g.end()
	g.config.Budget.Give(g.taken + g.longBytes)
	g.taken, g.longBytes, g.long = 0, 0, nil
}

// Read gives the library what it may have.
func (g *Conn) Read(p []byte) (int, error) {
	if len(g.ready) == 0 && g.left == 0 {
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	if len(g.ready) > 0 {
		n := copy(p, g.ready)
		if g.ready = g.ready[n:]; len(g.ready) == 0 {
			g.ready = nil
		}
		return n, nil
	}
	n, err := g.payload(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// hurry gives the client its time for what comes next of a packet: Stall for something of it, and what is left for all
// of it. It returns what ends that.
func (g *Conn) hurry() func() {
	end := time.Now().Add(g.config.Stall)
	if g.until.Before(end) {
		end = g.until
	}
	_ = g.Conn.SetReadDeadline(end) // fails only on a closed connection, which the read tells
	return g.unhurried
}

func (g *Conn) unhurried() { _ = g.Conn.SetReadDeadline(time.Time{}) } // as in hurry

// expect begins the time of n bytes.
func (g *Conn) expect(n int) {
	g.until = time.Now().Add(g.config.Stall + time.Duration(n)*time.Second/packetRate)
}

// payload reads of a packet that has begun.
func (g *Conn) payload(p []byte) (int, error) {
	if g.in.Buffered() == 0 {
		defer g.hurry()()
	}
	return g.in.Read(p)
}

// next comes to the next packet that the library may have.
func (g *Conn) next() error {
	if err := g.interrupted(); err != nil {
		return err
	}
	for {
		if answer := g.pending; answer != nil {
			g.pending = nil
			if err := answer(); err != nil {
				return err
			}
		}
		header, err := g.header()
		if err != nil {
			return err
		}
		if g.full {
			return g.more(header)
		}
		if done, err := g.command(header); done || err != nil {
			return err
		}
	}
}

// header reads the four bytes before a packet. Between two commands a client may be silent.
func (g *Conn) header() (h [4]byte, err error) {
	if !g.full {
		g.config.Budget.Give(g.taken) // the command before is answered
		g.taken, g.size, g.failed = 0, 0, nil
	}
	if g.ending {
		return h, io.EOF
	}
	at := 0
	if !g.full {
		if h[0], err = g.in.ReadByte(); err != nil {
			return h, err
		}
		at = 1
	}
	g.expect(0)
	for at < len(h) {
		n, err := g.payload(h[at:])
		if at += n; err != nil {
			return h, err
		}
	}
	return h, nil
}

func length(h [4]byte) int { return int(h[0]) | int(h[1])<<8 | int(h[2])<<16 }

// more is another packet of the same command. The library has the first ones: if it is too large, there is no going on.
func (g *Conn) more(h [4]byte) error {
	n := length(h)
	if err := g.admit(h, n); err != nil {
		return err
	}
	g.deliver(h, n)
	return nil
}

// deliver lets the library read a packet.
func (g *Conn) deliver(h [4]byte, n int) {
	g.ready, g.left, g.full = append(g.ready, h[:]...), n, n == fullPacket
}

// admit counts a packet's bytes, and waits until there is room for them. One that is refused is answered, and
// ErrTooLarge or door.ErrBusy returned.
func (g *Conn) admit(h [4]byte, n int) error {
	defer g.expect(n)
	if g.size += int64(n); g.size > g.config.MaxPacket {
		text := fmt.Sprintf("Got a packet bigger than 'max_allowed_packet' bytes (%d)", g.config.MaxPacket)
		return g.refuse(h, n, ErrTooLarge, erPacketTooLarge, "08S01", text)
	}
	if g.size <= small {
		return nil
	}
	want := settings.Copies * int64(n)
	if err := g.config.Budget.Take(g.ctx, want); err != nil {
		if !errors.Is(err, door.ErrBusy) {
			return err
		}
		return g.refuse(h, n, door.ErrBusy, erOutOfResources, "HY000", "Out of memory: too much of other statements "+
			"is being worked on (try again; max_busy_bytes bounds it)")
	}
	g.taken += want
	return nil
}

// refuse throws the rest of the command away and then says why: a client that still writes would see a broken
// connection in place of the error. g.full afterwards: the library has a part of it already, or too much came.
func (g *Conn) refuse(h [4]byte, n int, why error, code uint16, state, text string) error {
	g.expect(n)
	begun := g.full
	for skipped := int64(0); ; {
		for n > 0 {
			k, err := g.discard(n)
			if n -= k; err != nil {
				return err
			}
			if skipped += int64(k); skipped > maxSkipped {
				g.full = true
				return why
			}
		}
		if length(h) != fullPacket {
			break
		}
		g.full = true
		var err error
		if h, err = g.header(); err != nil {
			return err
		}
		n = length(h)
		g.expect(n)
	}
	g.full = begun
	g.answer(h[3]+1, code, state, text)
	return why
}

func (g *Conn) discard(n int) (int, error) {
	if g.in.Buffered() == 0 {
		defer g.hurry()()
	}
	return g.in.Discard(min(n, bufferBytes))
}

// command looks at the first packet of a command. done: the library may have it; else it was answered here.
func (g *Conn) command(h [4]byte) (done bool, err error) {
	n := length(h)
	if n == 0 {
		return false, ErrMalformed
	}
	if err := g.admit(h, n); (errors.Is(err, ErrTooLarge) || errors.Is(err, door.ErrBusy)) && !g.full {
		return false, nil // all of it was read, and the client told: it may go on
	} else if err != nil {
		return false, err
	}
	if err := g.fill(1); err != nil {
		return false, err
	}
	first, err := g.in.Peek(1)
	if err != nil {
		return false, err
	}
	g.fetched = nil
	switch first[0] {
	case comFetch:
		g.fetched = new(fetched)
	case comPrepare:
		if h[3] == 0 && g.config.Prepare != nil {
			return g.prepare(h, n)
		}
	case comLongData, comExecute, comClose, comReset:
		if done, err := g.values(h, n, first[0]); done || err != nil {
			return len(g.ready) > 0, err
		}
	case comChange, comRestart, comStatistics, comKill, comRefresh:
		if g.config.Command != nil {
			return g.own(h, n)
		}
	}
	g.deliver(h, n)
	return true, nil
}

// fill waits until so many bytes of a packet are there.
func (g *Conn) fill(n int) error {
	if g.in.Buffered() >= n {
		return nil
	}
	defer g.hurry()()
	_, err := g.in.Peek(n)
	return err
}

// answer writes an error packet in the library's place: it is reading, so that nothing else is being written.
func (g *Conn) answer(sequence byte, code uint16, state, text string) {
	// a client that is gone misses nothing, and the next read tells
	_, _ = g.Conn.Write(packet(sequence, code, state, text))
}

// packet is an error packet.
func packet(sequence byte, code uint16, state, text string) []byte {
	if len(state) != 5 {
		state = "HY000"
	}
	payload := binary.LittleEndian.AppendUint16([]byte{0xff}, code)
	payload = append(append(append(payload, '#'), state...), text...)
	return append([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, sequence}, payload...)
}

// MySQL's numbers of these errors.
const (
	erOutOfResources = 1041
	erPacketTooLarge = 1153
	erUnknown        = 1105
)

var _ io.ReadWriteCloser = (*Conn)(nil)
