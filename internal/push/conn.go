package push

import (
	"net"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"github.com/hikyaku/hikyaku/internal/push/wire"
)

// The codes with which we end streams and connections.
const (
	codeNone         = uint32(http2.ErrCodeNo)
	codeProtocol     = uint32(http2.ErrCodeProtocol)
	codeInternal     = uint32(http2.ErrCodeInternal)
	codeFlowControl  = uint32(http2.ErrCodeFlowControl)
	codeFrameSize    = uint32(http2.ErrCodeFrameSize)
	codeRefused      = uint32(http2.ErrCodeRefusedStream)
	codeCancel       = uint32(http2.ErrCodeCancel)
	codeCompression  = uint32(http2.ErrCodeCompression)
	codeEnhanceYour  = uint32(http2.ErrCodeEnhanceYourCalm)
	silent           = ^uint32(0) // no GOAWAY: the line is broken
	maxControl       = 64 << 10   // bytes of control frames that may wait to be written
	noLimit          = 1<<31 - 1  // of streams, if SETTINGS name none
	lastWords        = time.Second
	singleIdle       = 50 * time.Second // servers of HTTP/1.1 mostly wait for 60 s or longer
	restMin, restMax = 10 * time.Millisecond, time.Second
	spentStreams     = wire.MaxStream - 1<<16 // from here on a connection is replaced
)

// A conn is one connection. All fields but the first ones are under the client's mutex.
type conn struct {
	c      *Client
	number int
	raw    net.Conn // the socket; its deadlines may be set by anyone
	rw     net.Conn // TLS, or raw
	source *buffered
	single bool          // speaks HTTP/1.1: a request at a time; set before it is greeted
	asked  atomic.Uint32 // of HTTP/1.1: the stream of the last request whose writing has begun; 0: none

	streams map[uint32]*Call
	next    uint32  // the next stream
	pending []*Call // their bodies are not out, and the windows of their streams let them go on

	ready    bool // the far end's SETTINGS came
	accepted bool // the far end let a request in
	goodbye  bool // takes no more: the far end said goodbye, or we replace it
	aged     bool // to be replaced
	dead     error
	cut      bool   // nothing more can be written
	farewell error  // what the far end said when it said goodbye
	last     uint32 // the last stream that the far end processes, once goodbye

	peerStreams uint32 // SETTINGS_MAX_CONCURRENT_STREAMS
	peerWindow  int64  // SETTINGS_INITIAL_WINDOW_SIZE
	peerFrame   int    // SETTINGS_MAX_FRAME_SIZE
	peerList    uint32 // SETTINGS_MAX_HEADER_LIST_SIZE
	tableSize   uint32 // SETTINGS_HEADER_TABLE_SIZE
	tableLow    uint32 // the least it was since the writer looked
	window      int64  // what we may send on all streams together

	control []byte // frames to be written before all else
	parked  bool   // the writer waits on wake
	wake    chan struct{}
	writing bool
	since   time.Duration // of the write
	stalled bool          // the write takes long

	resting  bool // after refusals
	restTill time.Duration
	refusals int // in a row

	shunned   line          // calls that avoid it, and wait for another
	trialTill time.Duration // so long it may take to be accepted; 0: it is taken as it is

	age      time.Duration // when it is to be replaced; 0: never
	heard    time.Duration // when something was last read
	used     time.Duration // when the last stream ended
	pinged   time.Duration // when the PING under way was sent; 0: none
	answered int
	written  chan struct{} // closed when the writer has ended
}

func newConn(c *Client, number int) *conn {
	return &conn{
		c: c, number: number, streams: make(map[uint32]*Call), next: 1, last: noLimit,
		peerStreams: noLimit, peerWindow: wire.DefaultWindow, peerFrame: wire.DefaultFrameSize, peerList: ^uint32(0),
		tableSize: wire.DefaultTableSize, tableLow: wire.DefaultTableSize, window: wire.DefaultWindow,
		wake: make(chan struct{}, 1), written: make(chan struct{}),
	}
}

// limit is how many streams there may be.
func (k *conn) limit() int {
	n := min(int(k.peerStreams), k.c.config.MaxStreams)
	if first := k.c.config.InitialStreams; first > 0 && !k.accepted {
		n = min(n, first)
	}
	if k.single {
		n = min(n, 1)
	}
	return n
}

// free is how many requests it could take.
func (k *conn) free() int {
	if !k.ready || k.goodbye || k.dead != nil || k.resting || k.stalled {
		return 0
	}
	return max(0, k.limit()-len(k.streams))
}

// takes tells whether it could take a request.
func (k *conn) takes(call *Call) bool {
	return k.free() > 0 && (k.window > 0 || len(call.request.Body) == 0)
}

// onTrial tells whether it is new, and its first answers are to show how much it takes.
func (k *conn) onTrial() bool {
	return !k.accepted && !k.stalled && k.c.clock < k.trialTill && (len(k.streams) > 0 || k.free() > 0)
}

// close lets no more requests in.
func (k *conn) close() {
	k.c.open = without(k.c.open, k)
	k.unshun()
}

// drop forgets a stream.
func (k *conn) drop(call *Call) {
	if k.streams[call.stream] != call {
		return
	}
	delete(k.streams, call.stream)
	if len(k.streams) > 0 || k.dead != nil {
		return
	}
	k.used = k.c.clock
	if idle := k.idle(); idle > 0 {
		k.c.due(k.used + idle)
	}
	if k.goodbye {
		k.end(errDrained, codeNone)
	}
}

// idle is how long it is kept without requests; 0: as long as it lives. What is sent while a far end of HTTP/1.1 hangs
// up has no answer, and may be done twice: such a connection ends from this side, before servers use to end it.
func (k *conn) idle() time.Duration {
	idle := k.c.config.IdleTimeout
	if k.single && (idle == 0 || idle > singleIdle) {
		return singleIdle
	}
	return idle
}

// reset tells the far end to give a stream up. HTTP/1.1 has no word for it but the connection's end.
func (k *conn) reset(stream, code uint32) {
	if k.single {
		k.end(errGivenUp, silent)
		return
	}
	k.say(func(b []byte) []byte { return wire.AppendRST(b, stream, code) })
}

// say queues control frames.
func (k *conn) say(what func([]byte) []byte) {
	if k.dead != nil || k.single {
		return
	}
	if len(k.control) > maxControl {
		k.end(&ProtocolError{http2.ErrCodeEnhanceYourCalm, "the far end asks for more than it reads"}, codeEnhanceYour)
		return
	}
	k.control = what(k.control)
	k.rouse()
}

// rouse wakes the writer.
func (k *conn) rouse() {
	if k.parked {
		k.parked = false
		k.wake <- struct{}{} // there is room: it is parked once for each value
	}
}

// retire lets a connection take no more requests.
func (k *conn) retire(why error) {
	if k.goodbye || k.dead != nil {
		return
	}
	k.goodbye = true
	k.close()
	if len(k.streams) == 0 {
		k.end(why, codeNone)
		return
	}
	k.c.leaving = append(k.c.leaving, k)
}

// end ends a connection. The writer says the last words, if there is a code; the reader stops. What becomes of the
// calls is decided when both have ended.
func (k *conn) end(why error, code uint32) {
	if k.dead != nil {
		return
	}
	k.dead = why
	k.close()
	k.c.leaving = without(k.c.leaving, k)
	k.cut = code == silent
	if !k.cut && !k.single {
		k.control = wire.AppendGoAway(k.control, 0, code)
	}
	k.rouse()
	if k.raw != nil {
		// Errors: a closed socket stops both by itself.
		_ = k.raw.SetWriteDeadline(time.Now().Add(lastWords))
		_ = k.raw.SetReadDeadline(time.Unix(1, 0))
	}
}

// broken is called by the writer when it cannot write any more. What the far end has sent before may still be read.
func (k *conn) broken(why error) {
	if k.dead != nil {
		return
	}
	k.dead, k.cut = why, true
	k.close()
	k.c.leaving = without(k.c.leaving, k)
	_ = k.raw.SetReadDeadline(time.Now().Add(lastWords))
}

// remains ends the calls of a connection whose reader and writer have ended.
func (k *conn) remains(why error, out *answers) {
	lost := &ConnectionError{k.c.config.Address, why}
	for _, call := range k.byAge() {
		if call.sent.IsZero() {
			k.c.again(call, out)
			continue
		}
		k.c.finish(call, Result{Err: lost}, out)
	}
}

// byAge is the calls of a connection, the last first: put back in this order they are as they were.
func (k *conn) byAge() []*Call {
	calls := make([]*Call, 0, len(k.streams))
	for _, call := range k.streams {
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b *Call) int { return int(b.stream) - int(a.stream) })
	return calls
}

func without(list []*conn, k *conn) []*conn {
	if i := slices.Index(list, k); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}
