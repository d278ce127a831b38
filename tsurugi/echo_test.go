package tsurugi_test

import (
	"net"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// echo starts a server that answers every request as if it had been done.
func echo(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	b.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { answerAll(conn) })
		}
	})
	return "tcp://" + l.Addr().String()
}

func answerAll(conn net.Conn) {
	defer conn.Close()
	r := wire.NewReader(conn, 1<<30)
	var out []byte
	for {
		f, err := r.Request()
		if err != nil {
			return
		}
		out = wire.AppendResponse(out,
			wire.Response{Info: wire.ResponsePayload, Slot: f.Slot,
				Payload: wire.AppendAnswer(nil, wire.Answer{Message: done(f)})})
		if r.Buffered() == 0 {
			if _, err := conn.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
	}
}

// done is the good answer to a request.
func done(f wire.Request) []byte {
	h, body, err := wire.CutRequestHeader(f.Payload)
	if err != nil || h.Service != wire.SQL {
		return message.EndpointAnswer{Session: 1}.Append(nil)
	}
	a := message.Answer{Kind: message.ResultOnly}
	switch message.Kind(body[0] >> 3) { // the number of the first field
	case message.Begin:
		a = message.Answer{Kind: message.BeginAnswer, Handle: []byte{8, 1}}
	case message.Prepare:
		a = message.Answer{Kind: message.PrepareAnswer, Handle: []byte{8, 2}}
	case message.PreparedStatement:
		a = message.Answer{Kind: message.ExecuteAnswer, Inserted: 100}
	}
	return a.Append(nil)
}
