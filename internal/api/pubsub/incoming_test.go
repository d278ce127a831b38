package pubsub

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// wildClient writes calls of gRPC frame by frame.
type wildClient struct {
	t    testing.TB
	conn net.Conn
	mu   sync.Mutex // of what is written
	to   *http2.Framer

	ended chan string // grpc-status and grpc-message of streams that have ended
}

func newWildClient(t testing.TB, conn net.Conn) *wildClient {
	t.Helper()
	w := &wildClient{t: t, conn: conn, to: http2.NewFramer(conn, nil), ended: make(chan string, 100)}
	w.write(func(to *http2.Framer) error {
		go w.read() // the server speaks first, and is answered after this
		if _, err := io.WriteString(conn, preface); err != nil {
			return err
		}
		return to.WriteSettings()
	})
	return w
}

// dialWild connects a wild client to a door. The connection ends with the test.
func dialWild(t testing.TB, r *rig) *wildClient {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return newWildClient(t, conn)
}

func (w *wildClient) write(frame func(*http2.Framer) error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return frame(w.to) == nil
}

// read answers what has to be answered until the connection ends.
func (w *wildClient) read() {
	defer close(w.ended)
	from := http2.NewFramer(nil, w.conn)
	from.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		f, err := from.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				// who reads waits for nobody who writes
				go w.write(func(to *http2.Framer) error { return to.WriteSettingsAck() })
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				data := f.Data
				go w.write(func(to *http2.Framer) error { return to.WritePing(true, data) })
			}
		case *http2.MetaHeadersFrame:
			if f.StreamEnded() {
				said := ""
				for _, h := range f.Fields {
					if strings.HasPrefix(h.Name, "grpc-") {
						said += h.Name + "=" + h.Value + " "
					}
				}
				w.ended <- said
			}
		}
	}
}

// call begins a call.
func (w *wildClient) call(stream uint32, method string, more ...string) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	fields := append([]string{":method", "POST", ":scheme", "http", ":path", method, ":authority", "127.0.0.1",
		"content-type", "application/grpc", "te", "trailers"}, more...)
	for i := 0; i < len(fields); i += 2 {
		if err := e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
			w.t.Error(err)
		}
	}
	w.write(func(to *http2.Framer) error {
		return to.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(),
			EndHeaders: true})
	})
}

// send sends whole frames.
func (w *wildClient) send(stream uint32, data []byte, end bool) bool {
	for {
		n := min(len(data), 16<<10)
		if !w.write(func(to *http2.Framer) error { return to.WriteData(stream, end && n == len(data), data[:n]) }) {
			return false
		}
		if data = data[n:]; len(data) == 0 {
			return true
		}
	}
}

// announced is a message with what announces it; of a size of its own if that is not 0.
func announced(m proto.Message, size int, flag byte) []byte {
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	if size == 0 {
		size = len(data)
	}
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(size)), data...)
}

const (
	publishMethod = "/google.pubsub.v1.Publisher/Publish"
	streamMethod  = "/google.pubsub.v1.Subscriber/StreamingPull"
)

// pipes is a listener of connections in memory, whose waiting synctest understands.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.conns) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestADrippingMessageEnds: a message that comes byte by byte, each in a frame of its own, ends with its call a minute
// after it began, and so does a call that has no message. A stream that is silent between two messages lives on.
func TestADrippingMessageEnds(t *testing.T) {
	whole := announced(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
		StreamAckDeadlineSeconds: 10}, 0, 0)
	for name, c := range map[string]struct {
		method string
		sent   []byte
		drip   []byte
		lives  bool
	}{
		"a call": {publishMethod, nil,
			announced(&pubsubpb.PublishRequest{Topic: strings.Repeat("x", 1000)}, 0, 0), false},
		"what announces":           {publishMethod, nil, []byte{0, 0, 0}, false},
		"a call without a message": {publishMethod, nil, nil, false},
		"a call that does not end": {publishMethod, announced(&pubsubpb.PublishRequest{Topic: "x"}, 0, 0), nil,
			false},
		"a large one": {publishMethod,
			append(announced(&pubsubpb.PublishRequest{}, 1<<20, 0), make([]byte, 10)...), make([]byte, 1000), false},
		"a stream's first message":   {streamMethod, nil, whole[:len(whole)-1], false},
		"a stream without a message": {streamMethod, nil, nil, false},
		"a stream's second message": {streamMethod, whole,
			announced(&pubsubpb.StreamingPullRequest{AckIds: []string{strings.Repeat("x", 1000)}}, 0, 0), false},
		"a stream between two messages": {streamMethod, whole, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := openStore(t, t.TempDir(), time.Now)
				defer stop()
				d, err := New(Config{}, Options{Store: s, Report: func(err error) { t.Error(err) }})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := (publisherService{d: d}).CreateTopic(t.Context(),
					&pubsubpb.Topic{Name: topicName("news")}); err != nil {
					t.Fatal(err)
				}
				if _, err := (subscriberService{d: d}).CreateSubscription(t.Context(),
					&pubsubpb.Subscription{Name: subscriptionName("news"), Topic: topicName("news")}); err != nil {
					t.Fatal(err)
				}
				server, listener := d.newGRPC(), &pipes{conns: make(chan net.Conn, 1)}
				ours, theirs := net.Pipe()
				listener.conns <- theirs
				go server.Serve(knowing{framed(listener, d.busy.Standing())})
				w := newWildClient(t, ours)
				w.call(1, c.method)
				begun := time.Now()
				w.send(1, c.sent, false)
				var dripping sync.WaitGroup
				dripping.Go(func() {
					for _, b := range c.drip {
						time.Sleep(time.Second)
						if !w.send(1, []byte{b}, false) {
							return
						}
					}
				})
				select {
				case said := <-w.ended:
					if took := time.Since(begun); c.lives || took < door.BodyTime ||
						took > door.BodyTime+5*time.Second || !strings.Contains(said, "grpc-status=4 ") {
						t.Errorf("ended after %v: %s", took, said)
					}
				case <-time.After(time.Hour):
					if !c.lives {
						t.Error("it lives after an hour")
					}
				}
				d.stop()
				ours.Close()
				server.Stop()
				d.work.Wait()
				dripping.Wait()
				if n := d.busy.Used(); n != 0 {
					t.Errorf("%d bytes are left over", n)
				}
			})
		})
	}
}

// Messages that are not complete take their room, and no more than there is. Who finds none is told to try again.
func TestWhatIsReceivedCountsUntilItIsDone(t *testing.T) {
	r := newRig(t)
	all := door.NewBusy(16 << 20)
	all.Patience = 50 * time.Millisecond
	r.door.busy = all
	r.subscribe("news")
	w := dialWild(t, r)
	half := append(announced(&pubsubpb.PublishRequest{}, 1<<20, 0), make([]byte, firstBytes)...)
	const flood = 12
	for i := range uint32(flood) {
		w.call(2*i+1, publishMethod)
		w.send(2*i+1, half, false)
	}
	refused := 0
	for refused < flood-16/requestCost {
		said := <-w.ended
		if !strings.Contains(said, "grpc-status=8 ") || !strings.Contains(said, "try again") {
			t.Errorf("ended: %s", said)
		}
		refused++
	}
	if used := all.Used(); used != 16<<20 {
		t.Errorf("%d bytes are taken", used)
	}
	large := &pubsubpb.PublishRequest{Topic: topicName("news"),
		Messages: []*pubsubpb.PubsubMessage{{Data: make([]byte, 100<<10)}}}
	if _, err := r.pub.Publish(t.Context(), large); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a publish without room: %v", err)
	}
	never := &pubsubpb.PublishRequest{Topic: topicName("news"),
		Messages: []*pubsubpb.PubsubMessage{{Data: make([]byte, 5<<20)}}}
	if _, err := r.pub.Publish(t.Context(), never); status.Code(err) != codes.ResourceExhausted ||
		!strings.Contains(err.Error(), "busy_bytes") {
		t.Errorf("a publish for which there is never room: %v", err)
	}
	w.conn.Close()
	doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
	if _, err := r.pub.Publish(t.Context(), large); err != nil {
		t.Error(err)
	}
	doortest.Until(t, "the publish is over", func() bool { return all.Used() == 0 })
}

// A request on a stream counts until it is settled, and gives back what it took, whatever becomes of it.
func TestRequestsOnAStreamGiveBackWhatTheyTook(t *testing.T) {
	r := newRig(t)
	all := door.NewBusy(16 << 20)
	r.door.busy, r.door.answers = all, all.Share(8<<20)
	r.subscribe("news")
	for _, ids := range [][]string{{"wrong"}, nil} {
		st := r.stream("news")
		r.publish("news", "", "a")
		got := receive(t, st, 1)
		if ids == nil {
			ids = ackIDs(got)
		}
		if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: ids}); err != nil {
			t.Fatal(err)
		}
		if err := st.CloseSend(); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := st.Recv(); err != nil {
				break
			}
		}
		doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
	}
}

// What a compressed message becomes is bounded, and counted before.
func TestACompressedMessageIsBoundedByWhatItBecomes(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	w := dialWild(t, r)
	packed := func(n int) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(announced(&pubsubpb.PublishRequest{Topic: topicName("news"),
			Messages: []*pubsubpb.PubsubMessage{{Data: make([]byte, n)}}}, 0, 0)[5:]); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return append(binary.BigEndian.AppendUint32([]byte{1}, uint32(b.Len())), b.Bytes()...)
	}
	for i, c := range []struct {
		limit int64
		n     int
		want  string
	}{{1 << 30, 100 << 10, "grpc-status=0 "}, {1 << 30, 14 << 20, "grpc-status=8 "},
		{16 << 20, 3 << 20, "grpc-status=8 "}, {16 << 20, 1 << 20, "grpc-status=0 "}} {
		r.door.busy = door.NewBusy(c.limit)
		data := packed(c.n)
		w.call(uint32(2*i+1), publishMethod, "grpc-encoding", "gzip")
		w.send(uint32(2*i+1), data, true)
		if said := <-w.ended; !strings.Contains(said, c.want) {
			t.Errorf("%d bytes in an account of %d: %s", c.n, c.limit, said)
		}
		doortest.Until(t, "all is given back", func() bool { return r.door.busy.Used() == 0 })
	}
}

// A call of one message has one.
func TestACallHasOneMessage(t *testing.T) {
	r := newRig(t)
	w := dialWild(t, r)
	one := announced(&pubsubpb.GetTopicRequest{Topic: topicName("news")}, 0, 0)
	for i, data := range [][]byte{nil, append(bytes.Clone(one), one...), one[:7], {0, 0, 1},
		append([]byte{7}, one[1:]...), append([]byte{1}, one[1:]...)} {
		w.call(uint32(2*i+1), "/google.pubsub.v1.Publisher/GetTopic")
		w.send(uint32(2*i+1), data, true)
		if said := <-w.ended; !strings.Contains(said, "grpc-status=13 ") {
			t.Errorf("%x: %s", data, said)
		}
	}
}

// A client that has not sent a whole message does not hold up a stop, in whatever kind of call, and is told that the
// server stops.
func TestACallWithoutAWholeMessageDoesNotHoldUpAStop(t *testing.T) {
	whole := announced(&pubsubpb.GetTopicRequest{Topic: topicName("news")}, 0, 0)
	r := newRig(t)
	w := dialWild(t, r)
	calls := []struct {
		method string
		sent   []byte
	}{{publishMethod, nil}, {publishMethod, whole[:3]}, {publishMethod, whole[:7]},
		{"/google.pubsub.v1.Publisher/GetTopic", whole}, {streamMethod, nil}, {streamMethod, whole[:7]}}
	for i, c := range calls {
		w.call(uint32(2*i+1), c.method)
		w.send(uint32(2*i+1), c.sent, false)
	}
	last := uint32(2*len(calls) + 1)
	w.call(last, "/google.pubsub.v1.Publisher/GetTopic")
	w.send(last, whole, true)
	if said := <-w.ended; !strings.Contains(said, "grpc-status=5 ") {
		t.Errorf("the call behind them: %s", said)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second) // less than door.BodyTime
	defer cancel()
	if err := r.door.Close(ctx); err != nil {
		t.Error(err)
	}
	for range calls {
		if said := <-w.ended; !strings.Contains(said, "grpc-status=14 ") {
			t.Errorf("ended: %q", said)
		}
	}
}
