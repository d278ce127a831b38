package farend

import (
	"bufio"
	"crypto/tls"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	readBuffer   = 64 << 10
	flushBytes   = 16 << 10 // of answers after which the writer is told, though more requests have arrived
	mostOut      = 1 << 20  // of answers that nobody reads, after which nothing is read either
	firstWindow  = 65535    // of a stream and of a connection, before anybody says otherwise
	largestFrame = 16 << 10
	bodyBeyond   = 1024 // bytes of a body beyond the most that may come: then it is known to be too long
	mostFields   = 200  // of a request that anybody looks at
)

// conn is a connection. One goroutine reads and handles requests, one writes, and answers come from them and the wheel.
type conn struct {
	s     *Server
	tcp   *net.TCPConn
	nc    net.Conn // over tcp
	from  string   // its far end
	state *tls.ConnectionState
	br    *bufio.Reader

	// The reader's own.
	fr       *http2.Framer
	dec      *hpack.Decoder
	reading  *stream // whose header block is being read
	refused  bool    // and it is only decoded, for the decoder's sake
	memory   Memory
	rng      *rand.Rand
	request  Request
	received int // bytes of bodies that the client was not told to have been read

	over chan struct{}
	kick chan struct{} // there is something in out, or to end
	room chan struct{} // out was taken

	mu       sync.Mutex
	streams  map[uint32]*stream // that have no answer yet
	silent   int                // of them, those that will get none
	out      []byte
	answers  int // in out
	window   int64
	initial  int64     // window of a new stream
	blocked  []*stream // whose answers wait for a window
	limit    uint32    // of streams, as acknowledged
	told     []uint32  // limits that the client has not acknowledged yet
	lastTold uint32
	trusted  bool
	newest   uint32 // stream that the client opened
	answered uint32 // highest stream that was answered
	greeted  bool   // settings were sent
	leaving  bool   // GOAWAY was sent
	last     uint32 // stream that it named
	ending   ending
	closed   bool
}

// ending is what happens when out is written.
type ending uint8

const (
	goOn ending = iota
	closeIt
	resetIt
)

func newConn(s *Server, tcp *net.TCPConn, rng *rand.Rand) *conn {
	return &conn{
		s: s, tcp: tcp, nc: tcp, from: tcp.RemoteAddr().String(), rng: rng, streams: map[uint32]*stream{},
		window: firstWindow, initial: firstWindow, limit: math.MaxUint32,
		over: make(chan struct{}), kick: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}

// serve speaks HTTP/2 until the connection ends.
func (c *conn) serve() {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.br, preface); err != nil || string(preface) != http2.ClientPreface {
		c.broke(brokenPreface, brokenHints[brokenPreface])
		return
	}
	c.fr = http2.NewFramer(io.Discard, c.br)
	c.fr.SetReuseFrames()
	c.fr.SetMaxReadFrameSize(largestFrame)
	c.dec = hpack.NewDecoder(4096, c.field)
	c.dec.SetMaxStringLength(maxHeaderList)
	c.greet()
	var writer sync.WaitGroup
	writer.Go(c.write)
	c.read()
	c.end()
	writer.Wait()
	c.abandon()
}

// read handles frames until the connection fails or ends.
func (c *conn) read() {
	for {
		f, err := c.fr.ReadFrame()
		if err != nil {
			c.failed(err)
			return
		}
		if code := c.frame(f); code != http2.ErrCodeNo {
			c.breach(code)
			c.protest(code)
			return
		}
		if c.br.Buffered() == 0 {
			c.tell()
		}
		if !c.breathe() {
			return
		}
	}
}

// frame handles one frame. A code other than ErrCodeNo ends the connection.
func (c *conn) frame(f http2.Frame) http2.ErrCode {
	switch f := f.(type) {
	case *http2.HeadersFrame:
		return c.headers(f)
	case *http2.ContinuationFrame:
		return c.block(f.HeaderBlockFragment(), f.HeadersEnded(), false)
	case *http2.DataFrame:
		return c.data(f)
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.WindowUpdateFrame:
		return c.windowUpdate(f)
	case *http2.PingFrame:
		c.ping(f)
	case *http2.RSTStreamFrame:
		c.cancelled(f.StreamID)
	}
	return http2.ErrCodeNo
}

// field takes a header field from the decoder.
func (c *conn) field(f hpack.HeaderField) {
	if c.reading != nil && len(c.reading.fields) < mostFields {
		c.reading.fields = append(c.reading.fields, f)
	}
}

func (c *conn) headers(f *http2.HeadersFrame) http2.ErrCode {
	id := f.StreamID
	c.mu.Lock()
	st := c.streams[id]
	switch {
	case st != nil && st.whole:
		c.mu.Unlock()
		return http2.ErrCodeStreamClosed
	case st != nil: // trailers
		c.reading, c.refused = nil, false
		st.ended = st.ended || f.StreamEnded()
		c.mu.Unlock()
		code := c.block(f.HeaderBlockFragment(), f.HeadersEnded(), true)
		if code == http2.ErrCodeNo && st.ended {
			c.handle(st)
		}
		return code
	case id&1 == 0 || id <= c.newest:
		c.mu.Unlock()
		return http2.ErrCodeProtocol
	}
	c.newest = id
	c.refused = false
	switch {
	case c.leaving && id > c.last || c.ending != goOn:
		c.reading = nil // it was told not to come
	case uint32(len(c.streams)) >= c.limit:
		c.reading = nil
		c.s.ledger.overLimit.Add(1)
		c.resetStream(id, http2.ErrCodeRefusedStream)
	default:
		st = newStream(c, id)
		st.ended = f.StreamEnded()
		c.streams[id] = st
		c.reading = st
		rise(&c.s.ledger.mostStreams, int64(len(c.streams)))
	}
	c.mu.Unlock()
	return c.block(f.HeaderBlockFragment(), f.HeadersEnded(), false)
}

// block decodes a part of a header block.
func (c *conn) block(fragment []byte, ended, trailers bool) http2.ErrCode {
	if _, err := c.dec.Write(fragment); err != nil {
		return http2.ErrCodeCompression
	}
	if !ended {
		return http2.ErrCodeNo
	}
	if err := c.dec.Close(); err != nil {
		return http2.ErrCodeCompression
	}
	st := c.reading
	c.reading = nil
	if st != nil && st.ended && !trailers {
		c.handle(st)
	}
	return http2.ErrCodeNo
}

func (c *conn) data(f *http2.DataFrame) http2.ErrCode {
	c.received += int(f.Length)
	if c.received*2 >= c.s.config.Window {
		c.grant(c.received)
		c.received = 0
	}
	c.mu.Lock()
	st := c.streams[f.StreamID]
	over := st == nil || st.whole
	c.mu.Unlock()
	if over {
		if f.StreamID > c.newest {
			return http2.ErrCodeProtocol
		}
		return http2.ErrCodeNo // it was answered, reset or left unprocessed meanwhile
	}
	room := c.s.config.MaxBody + 1 - len(st.body)
	st.body = append(st.body, f.Data()[:min(room, len(f.Data()))]...)
	st.ended = f.StreamEnded()
	if st.ended || len(st.body) > c.s.config.MaxBody {
		c.handle(st)
	}
	return http2.ErrCodeNo
}
