package tsurugitest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relay"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A relays is the service that takes and gives large objects. What is uploaded becomes a file, as all large objects
// here are.
type relays struct {
	objects  *objects
	listener net.Listener
	http     *http.Server
	folder   string

	mu       sync.Mutex
	sessions map[uint64]map[uint64]string // the paths of what each has uploaded and not used
	last     uint64                       // object
}

// statuses of gRPC.
const (
	rpcInvalidArgument  = 3
	rpcNotFound         = 5
	rpcPermissionDenied = 7
	rpcUnavailable      = 14
)

type rpcError struct {
	code   int
	detail string
}

func (e *rpcError) Error() string { return e.detail }

// relayChunk is the bytes of a message, small so that tests have objects of several.
const relayChunk = 1 << 10

func startRelay(listen string, o *objects) (*relays, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("tsurugitest: %w", err)
	}
	r := &relays{objects: o, sessions: make(map[uint64]map[uint64]string), http: &http.Server{
		Protocols: new(http.Protocols)}}
	r.http.Protocols.SetUnencryptedHTTP2(true)
	r.http.Handler = http.HandlerFunc(r.serve)
	if r.folder, err = os.MkdirTemp("", "tsurugitest-"); err != nil {
		return nil, fmt.Errorf("tsurugitest: %w", err)
	}
	if r.listener, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, errors.Join(fmt.Errorf("tsurugitest: %w", err), os.RemoveAll(r.folder))
	}
	return r, nil
}

func (r *relays) close() {
	_ = r.http.Close() // it is over
	_ = os.RemoveAll(r.folder)
}

// begin makes a session of the relay, which has another number than the server's, and tells the client of it.
func (r *relays) begin(session uint64) *message.Relay {
	id := session + 1<<20
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[id] = make(map[uint64]string)
	return &message.Relay{Session: id, Endpoint: "dns:///" + r.listener.Addr().String(), Medium: "streaming",
		Params: map[string]string{"stream_chunk_size": strconv.Itoa(relayChunk)}}
}

func (r *relays) end(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, id)
}

// take is the file of what a session has uploaded, for one statement.
func (r *relays) take(session uint64, ref wire.RelayReference) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path, ok := r.sessions[session][ref.Object]
	switch {
	case !ok || ref.Storage != message.RelayUploads:
		return "", errors.New("tsurugidb failed to receive BLOB file in blob_relay_streaming mode (file not found)")
	case ref.Tag != ref.Object*tag^session:
		return "", errors.New("tsurugidb failed to receive BLOB file in blob_relay_streaming mode (tag mismatch)")
	}
	delete(r.sessions[session], ref.Object)
	return path, nil
}

func (r *relays) serve(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Content-Type", relay.ContentType)
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	var err error
	switch q.URL.Path {
	case relay.PutPath:
		err = r.put(w, q.Body)
	case relay.GetPath:
		err = r.get(w, q.Body)
	default:
		err = &rpcError{12, "there is no call " + q.URL.Path}
	}
	status := &rpcError{0, ""}
	if err != nil && !errors.As(err, &status) {
		status = &rpcError{rpcInvalidArgument, err.Error()}
	}
	w.Header().Set("Grpc-Status", strconv.Itoa(status.code))
	w.Header().Set("Grpc-Message", url.PathEscape(status.detail))
}

func checkAPI(version uint64) error {
	if version != message.RelayAPI {
		return &rpcError{rpcUnavailable, fmt.Sprintf("the version %d is not accepted", version)}
	}
	return nil
}

func (r *relays) put(w io.Writer, body io.Reader) error {
	b, err := relay.ReadFrame(body, maxRequest)
	if err != nil {
		return err
	}
	head, err := message.ParseUpload(b)
	switch {
	case err != nil:
		return err
	case !head.Head:
		return &rpcError{rpcInvalidArgument, "the first request is not metadata"}
	}
	if err := checkAPI(head.API); err != nil {
		return err
	}
	r.mu.Lock()
	_, ok := r.sessions[head.Session]
	r.last++
	object := r.last
	r.mu.Unlock()
	if !ok {
		return &rpcError{rpcNotFound, "there is no such session"}
	}
	path := filepath.Join(r.folder, strconv.FormatUint(object, 10))
	if err := receive(path, body, head); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if uploads, ok := r.sessions[head.Session]; ok {
		uploads[object] = path
	}
	_, err = w.Write(relay.AppendFrame(nil, func(b []byte) []byte {
		return message.AppendRelayed(b, wire.RelayReference{Storage: message.RelayUploads, Object: object,
			Tag: object*tag ^ head.Session})
	}))
	return err
}

// receive writes the chunks to a file.
func receive(path string, body io.Reader, head message.RelayPart) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for size := uint64(0); ; {
		b, err := relay.ReadFrame(body, maxRequest)
		if err == io.EOF && head.Sized && head.Size != size {
			err = &rpcError{rpcInvalidArgument, "the size in the metadata does not match the size of the sent blob"}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		part, err := message.ParseUpload(b)
		switch {
		case err != nil:
			return err
		case part.Head:
			return &rpcError{rpcInvalidArgument, "a subsequent request is not a chunk"}
		}
		size += uint64(len(part.Chunk))
		if _, err := f.Write(part.Chunk); err != nil {
			return err
		}
	}
}

func (r *relays) get(w io.Writer, body io.Reader) error {
	b, err := relay.ReadFrame(body, maxRequest)
	if err != nil {
		return err
	}
	g, err := message.ParseRelayGet(b)
	if err != nil {
		return err
	}
	if err := checkAPI(g.API); err != nil {
		return err
	}
	path, err := r.objects.path(g.Tx, value.Reference{Provider: g.Object.Storage, Object: g.Object.Object,
		Tag: g.Object.Tag})
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return &rpcError{rpcNotFound, "an error occurred while reading the blob file"}
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	send := func(p message.RelayPart) error {
		_, err := w.Write(relay.AppendFrame(nil, p.AppendDownload))
		return err
	}
	if err := send(message.RelayPart{Head: true, Size: uint64(info.Size())}); err != nil {
		return err
	}
	for chunk := make([]byte, relayChunk); ; {
		n, err := f.Read(chunk)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := send(message.RelayPart{Chunk: chunk[:n]}); err != nil {
			return err
		}
	}
}
