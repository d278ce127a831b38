package push_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/wire"
)

// yes is a far end that answers each request with 200 at once and allocates nothing for it.
func yes(t testing.TB) push.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go sayYes(conn)
		}
	}()
	return push.Config{Address: l.Addr().String(), Plain: true}
}

func sayYes(conn net.Conn) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(wire.Preface))); err != nil {
		return
	}
	buf, out := make([]byte, 1<<17), wire.AppendSettings(nil, wire.Setting{ID: wire.SettingMaxStreams, Value: 1000})
	have, data := 0, uint32(0)
	for {
		if data > wire.DefaultWindow/2 {
			out = wire.AppendWindowUpdate(out, 0, data)
			data = 0
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		out = out[:0]
		n, err := conn.Read(buf[have:])
		if err != nil {
			return
		}
		have += n
		used := 0
		for {
			f, n, err := wire.Next(buf[used:have], wire.DefaultFrameSize)
			if err != nil || n == 0 {
				break
			}
			used += n
			if f.Type == wire.TypeData {
				data += uint32(len(f.Payload))
			}
			if f.Type == wire.TypePing && !f.Has(wire.FlagAck) {
				out = wire.AppendFrame(out, wire.TypePing, wire.FlagAck, 0,
					binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(f.Payload)))
			}
			if (f.Type == wire.TypeData || f.Type == wire.TypeHeaders) && f.Has(wire.FlagEndStream) {
				out = wire.AppendFrame(out, wire.TypeHeaders, wire.FlagEndHeaders|wire.FlagEndStream, f.Stream,
					[]byte{0x88})
			}
		}
		have = copy(buf, buf[used:have])
	}
}

// BenchmarkSend counts what a request costs in this process, with a far end that does next to nothing.
func BenchmarkSend(b *testing.B) {
	c := newClient(b, yes(b))
	request := pushRequest(1)
	slots := make(chan struct{}, 2000)
	done := func(r push.Result) {
		if r.Err != nil {
			b.Error(r.Err)
		}
		<-slots
	}
	b.ReportAllocs()
	used := cpu()
	for b.Loop() {
		slots <- struct{}{}
		c.Send(request, time.Time{}, done)
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	b.StopTimer()
	report(b, used)
}
