package pubsub

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
	"github.com/hikyaku/hikyaku/internal/door"
)

// incoming reads the messages of one call. grpc.ServerStream reads a message of any length before anybody is asked, so
// this reads from the stream below it: the five bytes that announce a message, then room for it is taken, then the rest
// is read. It is for one goroutine.
type incoming struct {
	d    *Server
	from arriving
	hold door.Hold // of the message that was read last
	time messageTime
}

// arriving is what a call's stream is in the transport of gRPC.
type arriving interface {
	ReadMessageHeader(head []byte) error // fills head
	Read(n int) (mem.BufferSlice, error) // exactly n bytes
	RecvCompress() string
	WriteStatus(*status.Status) error // ends the stream, from any goroutine
}

const (
	// requestCost is what a message takes while it is worked on, in its own length: as it arrived, in one piece, what
	// is made of it, and what the journal writes.
	requestCost = 4
	// packedCost is how many bytes one of gzip may become; what a message may have is the bound.
	packedCost = 1000
	// firstBytes of a message come before the rest has its room.
	firstBytes = 64 << 10
	// mostWaiting is how many calls may wait for room: what has arrived of each lies in its window meanwhile.
	mostWaiting = 250
)

// window is how much a client may send of a stream before it is read.
func window(all int64) int32 { return int32(min(max(all/(4*mostWaiting), 64<<10), 4<<20)) }

func (d *Server) incoming(wire grpc.ServerStream) (*incoming, error) {
	ctx := wire.Context()
	from, ok := grpc.ServerTransportStreamFromContext(ctx).(arriving)
	if !ok {
		return nil, errors.New("the streams of this version of gRPC cannot be read from: see type arriving")
	}
	in := &incoming{d: d, from: from}
	if !rest.Counts(ctx) {
		in.hold.Of = d.busy
	}
	return in, nil
}

// only reads the one message of a call that has one.
func (in *incoming) only(ctx context.Context, m any) (err error) {
	in.time.begin(in)
	defer func() { err = in.time.end(err) }()
	var head [5]byte
	switch err := in.from.ReadMessageHeader(head[:]); {
	case err == io.EOF:
		return status.Error(codes.Internal, "the call has no message")
	case err != nil:
		return broken(err)
	}
	if err := in.message(ctx, head, m); err != nil {
		return err
	}
	// Nothing may follow: it would lie in the stream's window for as long as the call lasts.
	switch err := in.from.ReadMessageHeader(head[:]); {
	case err == nil:
		return status.Error(codes.Internal, "the call has more than one message")
	case err != io.EOF:
		return broken(err)
	}
	return nil
}

// first reads the first message of a stream, which has to come in time. The errors are those of next.
func (in *incoming) first(ctx context.Context, m any) (err error) {
	in.time.begin(in)
	defer func() { err = in.time.end(err) }()
	return in.next(ctx, m)
}

// next reads the next message of a stream, however long that is idle before. io.EOF: the client has closed its side.
func (in *incoming) next(ctx context.Context, m any) (err error) {
	var head [5]byte
	if err := in.from.ReadMessageHeader(head[:1]); err != nil {
		if err == io.EOF {
			return err
		}
		return broken(err)
	}
	in.time.begin(in)
	defer func() { err = in.time.end(err) }()
	if err := in.from.ReadMessageHeader(head[1:]); err != nil {
		return broken(err)
	}
	return in.message(ctx, head, m)
}

// broken is why a message could not be read.
func broken(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return status.Error(codes.Internal, io.ErrUnexpectedEOF.Error())
	}
	return err
}

// message reads the message that head announces.
func (in *incoming) message(ctx context.Context, head [5]byte, m any) error {
	size := int64(binary.BigEndian.Uint32(head[1:]))
	if size > maxRequest {
		return status.Errorf(codes.ResourceExhausted, "a message of %d bytes is larger than the %d that one may "+
			"have: send fewer at once", size, maxRequest)
	}
	packed := head[0] == 1
	if head[0] > 1 || packed && in.unpacker() == nil {
		return status.Errorf(codes.Internal, "a message is marked as compressed (%d), and the call says "+
			"grpc-encoding %q", head[0], in.from.RecvCompress())
	}
	cost, most := requestCost*size, int64(maxRequest)
	if packed {
		cost = max(cost, min(packedCost*cost, requestCost*most, in.hold.Of.Limit()/2))
		most = cost / requestCost
	}
	data, err := in.body(ctx, int(size), cost)
	if err != nil {
		return err
	}
	if packed {
		if data, err = unpack(in.unpacker(), data, most); err != nil {
			return err
		}
	}
	defer data.Free()
	in.hold.Keep(requestCost * int64(data.Len()))
	if err := in.values(data, m); err != nil {
		return err
	}
	if err := (codec{}).Unmarshal(data, m); err != nil {
		return status.Errorf(codes.Internal, "grpc: error unmarshalling request: %v", err)
	}
	return nil
}

// body reads n bytes when there is room for what they cost. Of many, who sends the first ones is believed; a promise
// takes nothing.
func (in *incoming) body(ctx context.Context, n int, cost int64) (mem.BufferSlice, error) {
	if n == 0 {
		return nil, nil
	}
	if all := in.hold.Of.Limit(); cost > all {
		return nil, status.Errorf(codes.ResourceExhausted, "a message of %d bytes takes %d bytes to work on, and "+
			"there are %d for all (limits: busy_bytes): send fewer at once", n, cost, all)
	}
	var first mem.BufferSlice
	if n > firstBytes {
		if err := in.take(ctx, &in.hold, firstBytes); err != nil {
			return nil, err
		}
		var err error
		if first, err = in.from.Read(firstBytes); err != nil {
			return nil, broken(err)
		}
		n -= firstBytes
		in.hold.End()
	}
	if err := in.take(ctx, &in.hold, cost); err != nil {
		first.Free()
		return nil, err
	}
	if first != nil {
		in.time.anew() // it may have waited
	}
	rest, err := in.from.Read(n)
	if err != nil {
		first.Free()
		return nil, broken(err)
	}
	return append(first, rest...), nil
}

// take takes room, and waits for it among a bounded number of others.
func (in *incoming) take(ctx context.Context, hold *door.Hold, n int64) error {
	if hold.Try(n) {
		return nil
	}
	if g := in.d.traffic.Waiting(door.ForRoom); g != nil {
		g.Inc()
		defer g.Dec()
	}
	defer in.d.waiting.Add(-1)
	if in.d.waiting.Add(1) > mostWaiting {
		return noRoom(fmt.Errorf("%w: %d calls wait for room", door.ErrBusy, mostWaiting))
	}
	if err := hold.Take(ctx, n); err != nil {
		if errors.Is(err, door.ErrBusy) {
			return noRoom(err)
		}
		return err
	}
	return nil
}

func noRoom(err error) error {
	return status.Errorf(codes.ResourceExhausted, "%v: try again after a while", err)
}

// unpacker undoes the compression of the call; nil without one.
func (in *incoming) unpacker() encoding.Compressor {
	name := in.from.RecvCompress()
	if name == "" || name == encoding.Identity {
		return nil
	}
	return encoding.GetCompressor(name)
}

// unpack makes a message, of so many bytes at most, of its compressed form. It frees packed.
func unpack(by encoding.Compressor, packed mem.BufferSlice, most int64) (mem.BufferSlice, error) {
	r := packed.Reader()
	packed.Free()
	defer r.Close()
	unpacked, err := by.Decompress(r)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "grpc: failed to decompress the message: %v", err)
	}
	data, err := mem.ReadAll(io.LimitReader(unpacked, most+1), mem.DefaultBufferPool())
	switch {
	case err != nil:
		err = status.Errorf(codes.Internal, "grpc: failed to decompress the message: %v", err)
	case int64(data.Len()) > most:
		err = status.Errorf(codes.ResourceExhausted, "a message is larger when it is unpacked than the %d bytes that "+
			"there is room for: send fewer at once", most)
	}
	if err != nil {
		data.Free()
		return nil, err
	}
	return data, nil
}
