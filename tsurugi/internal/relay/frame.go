package relay

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// The calls' paths.
const (
	service = "/data_relay_grpc.proto.blob_relay.blob_relay_streaming.BlobRelayStreaming/"
	PutPath = service + "Put"
	GetPath = service + "Get"
)

// ContentType is that of gRPC.
const ContentType = "application/grpc"

const frameHead = 5 // a byte that says whether the message is compressed, and its length

// AppendFrame appends a message, which fill appends, after what gRPC puts before it.
func AppendFrame(b []byte, fill func([]byte) []byte) []byte {
	start := len(b)
	b = fill(append(b, make([]byte, frameHead)...))
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-frameHead))
	return b
}

// ReadFrame reads a message of at most so many bytes. The error is io.EOF if there is none any more.
func ReadFrame(r io.Reader, most int) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, fmt.Errorf("%w: a compressed message of the relay", wire.ErrMalformed)
	case uint64(n) > uint64(most):
		return nil, fmt.Errorf("%w: a message of the relay with %d bytes; at most %d are taken", wire.ErrMalformed, n,
			most)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}
