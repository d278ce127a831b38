package compress

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/hikyaku/hikyaku/internal/door"
)

// ErrMalformed is what a connection ends with whose client sends what is not compressed as it says.
var ErrMalformed = errors.New("the compressed packet cannot be read")

const (
	packetHead = 7         // of a compressed packet: its size, its number, and the size of what is in it
	maxPayload = 1<<24 - 1 // bytes of what is in it
	least      = 50        // bytes that are worth it, as with MySQL
	free       = 64 << 10  // bytes of a packet that needs no budget
)

// Conn is a connection that is compressed. Read and Write are for one goroutine at a time each, and for one that reads
// when nothing is being written.
type Conn struct {
	net.Conn
	method Method
	budget *door.Busy
	ctx    context.Context // until Close
	end    context.CancelFunc

	clear int    // bytes that are written as they are: the packet that lets the client in; -1: none any more
	head  []byte // of that packet

	sequence byte      // of the next compressed packet
	in       io.Reader // of the packet that is being read; nil: none
	left     int       // bytes that in has still to give
	packed   io.Reader // what is left of the packet as it came
	done     func()    // gives back what the packet took
}

// New makes a connection compressed from now on, but for the next packet that is written.
func New(conn net.Conn, m Method, budget *door.Busy) *Conn {
	c := &Conn{Conn: conn, method: m, budget: budget}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Client makes the other end of a compressed connection. Each command begins with Anew.
func Client(conn net.Conn, m Method, budget *door.Busy) *Conn {
	c := New(conn, m, budget)
	c.clear = -1
	return c
}

// Compressed tells whether a connection is, itself or below.
func Compressed(conn net.Conn) bool {
	for {
		switch c := conn.(type) {
		case *Conn:
			return true
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return false
		}
	}
}

// Anew begins a command: packets are numbered from 0.
func (c *Conn) Anew() { c.sequence = 0 }

// NetConn is the connection below.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Close ends the connection.
func (c *Conn) Close() error {
	c.end()
	return c.Conn.Close()
}

// Release gives back what a packet that was not read to its end has of the budget. It is called when nobody reads any
// more.
func (c *Conn) Release() { c.over() }

// Read reads what was packed.
func (c *Conn) Read(p []byte) (int, error) {
	for c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.in.Read(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		_, err = io.Copy(io.Discard, c.packed) // what follows the packed bytes, as a checksum
		c.over()
	} else if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: it has less in it than it says", ErrMalformed)
	}
	return n, err
}

// over ends a packet.
func (c *Conn) over() {
	if c.done != nil {
		c.done()
	}
	c.in, c.packed, c.done = nil, nil, nil
}

// next reads the head of a packet and begins to unpack it.
func (c *Conn) next() error {
	var head [packetHead]byte
	if _, err := io.ReadFull(c.Conn, head[:1]); err != nil { // between packets the end is an end
		return err
	}
	if _, err := io.ReadFull(c.Conn, head[1:]); err != nil {
		return err
	}
	n, whole := size(head[:]), size(head[4:])
	c.sequence = head[3] + 1
	packed := io.LimitReader(c.Conn, int64(n))
	c.packed = packed
	if whole == 0 {
		c.in, c.left = packed, n
		return nil
	}
	if n == 0 {
		return fmt.Errorf("%w: nothing is in it", ErrMalformed)
	}
	if err := c.unpack(packed, whole); err != nil {
		c.over()
		return err
	}
	c.left = whole
	return nil
}

// unpack begins to unpack. A reader's window is what takes memory: zlib's is small, zstd's is what the packet's first
// frame says, however little is in it.
func (c *Conn) unpack(packed io.Reader, whole int) error {
	if c.method == Zlib {
		r, err := zlib.NewReader(packed)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		c.in = r
		return nil
	}
	from := bufio.NewReaderSize(packed, zstd.HeaderMaxSize)
	window, err := windowOf(from)
	if err != nil {
		return err
	}
	taken := int64(0)
	if whole > free || window > free {
		taken = int64(whole) + max(int64(whole), window+window/8)
		if err := c.budget.Take(c.ctx, taken); err != nil {
			return err
		}
	}
	r, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(max(uint64(window), free)), zstd.WithDecoderMaxMemory(maxPayload))
	if err != nil {
		c.budget.Give(taken)
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	c.in, c.done = r, func() {
		r.Close()
		c.budget.Give(taken)
	}
	return nil
}

// maxWindow is zstd's largest at the levels that clients have.
const maxWindow = 16 << 20

// windowOf is how many bytes the first frame's window has. Later frames of the packet may have no larger one.
func windowOf(packed *bufio.Reader) (int64, error) {
	head, err := packed.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) { // the packet may be shorter
		return 0, err
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	window := h.WindowSize
	if h.SingleSegment { // the window is what is in it
		window = h.FrameContentSize
	}
	if window > maxWindow {
		return 0, fmt.Errorf("%w: its window of %d bytes is larger than %d", ErrMalformed, window, maxWindow)
	}
	return int64(window), nil
}

// Write packs what is written. What lets the client in goes out as it is.
func (c *Conn) Write(p []byte) (written int, err error) {
	if c.clear >= 0 {
		if written, err = c.plainly(p); err != nil || written == len(p) {
			return written, err
		}
	}
	for written < len(p) {
		part := p[written:min(len(p), written+maxPayload)]
		if err := c.pack(part); err != nil {
			return written, err
		}
		written += len(part)
	}
	return written, nil
}

// plainly writes what is left of the packet that is not packed.
func (c *Conn) plainly(p []byte) (n int, err error) {
	for n < len(p) && len(c.head) < headBytes {
		c.head = append(c.head, p[n])
		n++
		if len(c.head) == headBytes {
			c.clear = size(c.head)
		}
	}
	if len(c.head) == headBytes {
		k := min(c.clear, len(p)-n)
		n, c.clear = n+k, c.clear-k
		if c.clear == 0 {
			c.clear = -1
		}
	}
	return c.Conn.Write(p[:n])
}

// pack writes one packet.
func (c *Conn) pack(p []byte) error {
	out := packets.Get().(*bytes.Buffer)
	defer func() {
		if out.Cap() <= 2*free {
			packets.Put(out)
		}
	}()
	out.Reset()
	out.Write(make([]byte, packetHead))
	whole := len(p)
	if len(p) < least || !c.packInto(out, p) || out.Len()-packetHead >= len(p) {
		out.Truncate(packetHead)
		out.Write(p)
		whole = 0
	}
	packet := out.Bytes()
	n := len(packet) - packetHead
	packet[0], packet[1], packet[2], packet[3] = byte(n), byte(n>>8), byte(n>>16), c.sequence
	packet[4], packet[5], packet[6] = byte(whole), byte(whole>>8), byte(whole>>16)
	c.sequence++
	_, err := c.Conn.Write(packet)
	return err
}

var (
	packets = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	zlibs   = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}
	zstds   = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true))
	})
)

// packInto packs p. false: it could not, and p goes out as it is.
func (c *Conn) packInto(out *bytes.Buffer, p []byte) bool {
	if c.method == Zlib {
		w := zlibs.Get().(*zlib.Writer)
		defer zlibs.Put(w)
		w.Reset(out)
		_, err := w.Write(p)
		return errors.Join(err, w.Close()) == nil
	}
	w, err := zstds()
	if err != nil {
		return false
	}
	packed := w.EncodeAll(p, out.AvailableBuffer())
	out.Write(packed)
	return true
}
