package push_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/hikyaku/hikyaku/internal/push"
)

// moody is a far end that misbehaves in every way at once, and keeps books of what it has processed. What it says about
// that is true.
type moody struct {
	t    *testing.T
	wg   sync.WaitGroup
	cert *tls.Certificate

	mu        sync.Mutex
	rand      *rand.Rand
	processed map[string]int
	quiet     bool // it behaves from now on
}

func (m *moody) chance(percent int) bool { return m.upTo(100) < percent }

func (m *moody) upTo(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.quiet {
		return n - 1 // no mood has so high a chance
	}
	return m.rand.IntN(n)
}

func (m *moody) dial(context.Context, string, string) (net.Conn, error) {
	if m.chance(20) {
		return nil, fmt.Errorf("refused in a mood")
	}
	near, far := net.Pipe()
	if m.cert != nil {
		far = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{*m.cert}, NextProtos: []string{"h2"}})
	}
	m.wg.Go(func() {
		k := &moodyConn{moody: m, Conn: far, framer: http2.NewFramer(far, far), last: 1<<31 - 1,
			out: make(chan func() error, 10_000)}
		k.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		k.framer.MaxHeaderListSize = 1 << 20
		k.serve()
	})
	return near, nil
}

type moodyConn struct {
	*moody
	net.Conn
	framer *http2.Framer
	out    chan func() error // what is to be written, in order
	paths  map[uint32]string
	last   uint32 // processes none above
	high   uint32 // the last stream that was opened
	done   uint32 // the last that was processed
}

func (k *moodyConn) serve() {
	gone := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case what := <-k.out:
				if what() != nil {
					_ = k.Close()
					return
				}
			case <-gone:
				return
			}
		}
	})
	defer writer.Wait()
	defer close(gone)
	defer k.Close()
	if k.chance(5) {
		return
	}
	preface := make([]byte, len(http2.ClientPreface))
	for n := 0; n < len(preface); {
		m, err := k.Read(preface[n:])
		if n += m; err != nil {
			return
		}
	}
	k.say(func() error {
		return k.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(k.upTo(20))},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: []uint32{65535, 100, 1 << 20}[k.upTo(3)]})
	})
	k.paths = map[uint32]string{}
	for {
		f, err := k.framer.ReadFrame()
		if err != nil || !k.frame(f) {
			return
		}
		if k.chance(1) {
			time.Sleep(time.Duration(k.upTo(4000)) * time.Millisecond) // it does not read
		}
	}
}

func (k *moodyConn) say(what func() error) {
	select {
	case k.out <- what:
	default: // nobody reads what it says
		_ = k.Close()
	}
}

func (k *moodyConn) frame(f http2.Frame) bool {
	id := f.Header().StreamID
	ended := false
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		k.paths[id] = f.PseudoValue("path")
		k.high = id
		ended = f.StreamEnded()
	case *http2.DataFrame:
		n := f.Header().Length
		if n > 0 {
			k.say(func() error { return k.framer.WriteWindowUpdate(0, n) })
		}
		if ended = f.StreamEnded(); !ended && n > 0 {
			k.say(func() error { return k.framer.WriteWindowUpdate(id, n) })
		}
	case *http2.PingFrame:
		data := f.Data
		if !f.IsAck() && !k.chance(20) {
			k.say(func() error { return k.framer.WritePing(true, data) })
		}
	case *http2.SettingsFrame:
		if !f.IsAck() {
			k.say(k.framer.WriteSettingsAck)
		}
	case *http2.GoAwayFrame:
		return false
	}
	if !ended || id > k.last {
		return true
	}
	return k.request(id)
}

func (k *moodyConn) request(id uint32) bool {
	if k.chance(5) {
		k.say(func() error { return k.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream) })
		return true
	}
	k.mu.Lock()
	k.processed[k.paths[id]]++
	k.mu.Unlock()
	k.done = max(k.done, id) // not always the last: a long body ends late
	switch mood := k.upTo(200); {
	case mood < 4:
		k.say(func() error { return k.framer.WriteRSTStream(id, http2.ErrCodeInternal) })
	case mood < 6:
		return false
	case mood < 10: // goodbye: what it has read is processed, or will be
		k.last = min(k.last, k.high)
		last := k.last
		k.say(func() error { return k.framer.WriteGoAway(last, http2.ErrCodeNo, nil) })
		k.answer(id)
	case mood < 14: // goodbye to some that are still on their way
		k.last = k.done
		last := k.last
		k.say(func() error { return k.framer.WriteGoAway(last, http2.ErrCodeNo, nil) })
		k.answer(id)
	case mood < 16:
		k.say(func() error { return k.framer.WriteRawFrame(http2.FramePing, 0, 0, []byte("short")) })
	case mood < 20: // never answered
	case mood < 30:
		n := uint32(k.upTo(12))
		k.say(func() error {
			return k.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n})
		})
		k.answer(id)
	case mood < 40:
		n := uint32(k.upTo(70_000))
		k.say(func() error {
			return k.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: n},
				http2.Setting{ID: http2.SettingHeaderTableSize, Val: 4096})
		})
		k.answer(id)
	case mood < 60: // late
		k.wg.Go(func() {
			time.Sleep(time.Duration(k.upTo(3000)) * time.Millisecond)
			k.answer(id)
		})
	default:
		k.answer(id)
	}
	return true
}

func (k *moodyConn) answer(id uint32) {
	var b strings.Builder
	_ = hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	k.say(func() error {
		return k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(b.String()),
			EndHeaders: true, EndStream: true})
	})
}

// seeds of the model: each is a story of a minute.
const stories = 25

func TestWhateverTheFarEndDoesEachSendIsAnsweredOnceAndNothingIsDoubled(t *testing.T) {
	cert, pool := certificate(t)
	for seed := range uint64(stories) {
		secure := seed%5 == 0
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &moody{t: t, rand: rand.New(rand.NewPCG(seed, 1)), processed: map[string]int{}}
				config := push.Config{Address: "far.example:443", Plain: !secure, Dial: m.dial,
					MaxConnections: 1 + int(seed%4), InitialStreams: int(seed % 3),
					PingAfter: 2 * time.Second, PingTimeout: time.Second, WriteTimeout: 2 * time.Second, DialRate: 10,
					MaxAge:     20 * time.Second,
					BackoffMax: time.Second}
				if secure {
					m.cert, config.ServerName, config.TLS = &cert, "localhost",
						&tls.Config{RootCAs: pool, Time: func() time.Time { return cert.Leaf.NotBefore.Add(time.Hour) }}
				}
				story(t, m, config, rand.New(rand.NewPCG(seed, 2)))
			})
		})
	}
}

func story(t *testing.T, m *moody, config push.Config, random *rand.Rand) {
	c := newClient(t, config)
	var mu sync.Mutex
	ends := map[string]push.Result{}
	n, latest := 2000, 0
	for i := range n {
		path := fmt.Sprint("/", i)
		r := &push.Request{Method: "POST", Path: path,
			Header: []push.Field{{Name: "apns-topic", Value: fmt.Sprint("t", i%3)}}}
		switch random.IntN(10) {
		case 0:
			r.Body = make([]byte, random.IntN(100_000))
		case 1, 2:
		default:
			r.Body = make([]byte, random.IntN(500))
		}
		deadline := time.Now().Add(time.Duration(100+random.IntN(15_000)) * time.Millisecond)
		avoid := 0
		if random.IntN(4) == 0 {
			mu.Lock()
			avoid = latest
			mu.Unlock()
		}
		call := c.StartElsewhere(r, deadline, avoid, func(end push.Result) {
			mu.Lock()
			defer mu.Unlock()
			latest = max(latest, end.Connection)
			if _, ok := ends[path]; ok {
				t.Errorf("%s was answered twice", path)
			}
			ends[path] = end
			if late := time.Since(deadline); late > 50*time.Millisecond {
				t.Errorf("%s was answered %v after its deadline", path, late)
			}
		})
		if random.IntN(20) == 0 {
			time.AfterFunc(time.Duration(random.IntN(1000))*time.Millisecond, call.Cancel)
		}
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
	}
	m.mu.Lock()
	m.quiet = true
	m.mu.Unlock()
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
	m.wg.Wait()
	ok, unknown, doubled := 0, 0, 0
	for i := range n {
		path := fmt.Sprint("/", i)
		end, answered := ends[path]
		switch done := m.processed[path]; {
		case !answered:
			t.Errorf("%s was never answered", path)
		case done > 1:
			doubled++
			t.Errorf("%s was processed %d times: %+v", path, done, end)
		case end.Err == nil:
			ok++
			if done != 1 {
				t.Errorf("%s is answered but was not processed", path)
			}
		case end.Unprocessed && done > 0:
			t.Errorf("%s was processed and is reported as not: %+v", path, end)
		case !end.Unprocessed:
			unknown++
		}
	}
	s := c.Stats()
	if ok == 0 || s.Dials < 3 {
		t.Errorf("only %d of %d were answered over %d connections: %+v", ok, n, s.Dials, s)
	}
	if testing.Verbose() {
		t.Logf("%d answered, %d unknown, %d resent, %d connections, %d goodbyes, %d refused, %d expired", ok, unknown,
			s.Resent, s.Made, s.GoAways, s.Refused, s.Expired)
	}
}
