package rest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Services are gRPC services whose methods are called by the goroutine of a request, without a connection of gRPC's: a
// grpc.Server that is an http.Handler starts three more goroutines a call. They are registered before the first call.
type Services struct {
	codec   encoding.CodecV2
	names   []string
	methods map[string]method // by the path of a request
}

type method struct {
	service any
	handle  grpc.StreamHandler
}

// NewServices makes services whose messages a codec of Protocol Buffers reads and writes.
func NewServices(codec encoding.CodecV2) *Services {
	return &Services{codec: codec, methods: make(map[string]method)}
}

// RegisterService implements grpc.ServiceRegistrar.
func (s *Services) RegisterService(desc *grpc.ServiceDesc, service any) {
	s.names = append(s.names, desc.ServiceName)
	path := "/" + desc.ServiceName + "/"
	for _, m := range desc.Streams {
		s.methods[path+m.StreamName] = method{service, m.Handler}
	}
	for _, m := range desc.Methods {
		s.methods[path+m.MethodName] = method{service, func(service any, wire grpc.ServerStream) error {
			answer, err := m.Handler(service, wire.Context(), wire.RecvMsg, nil)
			if err != nil {
				return err
			}
			return wire.SendMsg(answer)
		}}
	}
}

// ServeHTTP answers a call in the form of gRPC: the messages of the body and of the answer have five bytes before them,
// and the status is in the trailers. The transcoder makes such requests.
func (s *Services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	called, ok := s.methods[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	t := &transport{w: w, r: r}
	ctx := r.Context()
	if d, ok := timeout(r.Header.Get("Grpc-Timeout")); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	ctx = peer.NewContext(metadata.NewIncomingContext(ctx, metadataOf(r)), &peer.Peer{Addr: address(r.RemoteAddr)})
	t.r = r.WithContext(grpc.NewContextWithServerTransportStream(ctx, t))
	header := w.Header()
	header.Set("Content-Type", r.Header.Get("Content-Type"))
	for _, name := range []string{statusKey, messageKey, detailsKey} {
		header.Add("Trailer", name)
	}
	t.end(called.handle(called.service, &stream{t, s.codec}))
}

// The names of trailers that tell what became of a call.
const (
	statusKey  = "Grpc-Status"
	messageKey = "Grpc-Message"
	detailsKey = "Grpc-Status-Details-Bin"
)

// units are those of gRPC's timeouts.
var units = map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond,
	'u': time.Microsecond, 'n': time.Nanosecond}

// timeout reads a time as gRPC's headers have it, which the transcoder makes of X-Server-Timeout: up to eight digits
// and a unit.
func timeout(text string) (d time.Duration, ok bool) {
	if len(text) < 2 || len(text) > 9 {
		return 0, false
	}
	unit, ok := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if err != nil || !ok {
		return 0, false
	}
	if longest := uint64(math.MaxInt64 / unit); n > longest {
		n = longest
	}
	return time.Duration(n) * unit, true
}

// address is where a request comes from.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// reserved are the names of headers that are gRPC's own.
var reserved = []string{"grpc-encoding", "grpc-message", "grpc-message-type", "grpc-status", "grpc-timeout", "te"}

// metadataOf is a request's header as gRPC's services see it.
func metadataOf(r *http.Request) metadata.MD {
	md := make(metadata.MD, len(r.Header)+1)
	for name, values := range r.Header {
		name = strings.ToLower(name)
		if slices.Contains(reserved, name) {
			continue
		}
		if strings.HasSuffix(name, "-bin") {
			values = slices.Clone(values)
			for i, v := range values {
				if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "=")); err == nil {
					values[i] = string(raw)
				}
			}
		}
		md[name] = values
	}
	md[":authority"] = []string{r.Host}
	return md
}

// transport is the call of a request, and implements grpc.ServerTransportStream, and what a service may want that reads
// messages by itself.
type transport struct {
	w http.ResponseWriter
	r *http.Request
}

// Method implements grpc.ServerTransportStream.
func (t *transport) Method() string { return t.r.URL.Path }

// SetHeader implements grpc.ServerTransportStream.
func (t *transport) SetHeader(md metadata.MD) error {
	for name, values := range md {
		for _, v := range values {
			t.w.Header().Add(name, v)
		}
	}
	return nil
}

// SendHeader implements grpc.ServerTransportStream. The header goes with the answer.
func (t *transport) SendHeader(md metadata.MD) error { return t.SetHeader(md) }

// SetTrailer implements grpc.ServerTransportStream. This form has none.
func (*transport) SetTrailer(metadata.MD) error { return nil }

// ReadMessageHeader fills head. io.EOF: there is no further message.
func (t *transport) ReadMessageHeader(head []byte) error {
	_, err := io.ReadFull(t.r.Body, head)
	return err
}

// Read reads exactly n bytes.
func (t *transport) Read(n int) (mem.BufferSlice, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(t.r.Body, data); err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(data)}, nil
}

// RecvCompress is how messages are compressed: not at all, for the transcoder reads them.
func (*transport) RecvCompress() string { return "" }

// WriteStatus is for calls that wait for a message. These do not: the request is here as a whole.
func (*transport) WriteStatus(*status.Status) error { return nil }

// end tells what became of the call.
func (t *transport) end(err error) {
	st, ok := status.FromError(err)
	if !ok {
		st = status.FromContextError(err)
	}
	header := t.w.Header()
	header.Set(statusKey, strconv.Itoa(int(st.Code())))
	if text := st.Message(); text != "" {
		header.Set(messageKey, escaped(text))
	}
	if p := st.Proto(); len(p.GetDetails()) > 0 {
		if details, err := proto.Marshal(p); err == nil {
			header.Set(detailsKey, base64.RawStdEncoding.EncodeToString(details))
		}
	}
}

// escaped is a message as a header can have it: what is not plain ASCII, and %, as %XX.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// stream is a call as the service sees it.
type stream struct {
	*transport
	codec encoding.CodecV2
}

// SetTrailer implements grpc.ServerStream.
func (s *stream) SetTrailer(md metadata.MD) { _ = s.transport.SetTrailer(md) }

// Context implements grpc.ServerStream.
func (s *stream) Context() context.Context { return s.r.Context() }

// RecvMsg implements grpc.ServerStream.
func (s *stream) RecvMsg(m any) error {
	var head [5]byte
	if err := s.ReadMessageHeader(head[:]); err != nil {
		return err
	}
	data, err := s.Read(int(binary.BigEndian.Uint32(head[1:])))
	if err != nil {
		return err
	}
	defer data.Free()
	if err := s.codec.Unmarshal(data, m); err != nil {
		return status.Errorf(codes.Internal, "grpc: error unmarshalling request: %v", err)
	}
	return nil
}

// SendMsg implements grpc.ServerStream.
func (s *stream) SendMsg(m any) error {
	data, err := s.codec.Marshal(m)
	if err != nil {
		return status.Errorf(codes.Internal, "grpc: error while marshaling: %v", err)
	}
	defer data.Free()
	var head [5]byte
	binary.BigEndian.PutUint32(head[1:], uint32(data.Len()))
	if _, err := s.w.Write(head[:]); err != nil {
		return err
	}
	for _, part := range data {
		if _, err := s.w.Write(part.ReadOnlyData()); err != nil {
			return err
		}
	}
	return nil
}
