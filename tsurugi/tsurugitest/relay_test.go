package tsurugitest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relay"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// raw leaves messages as they are.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (raw) Name() string { return "raw" }

// call sends messages with gRPC's own library for Go, and returns what comes back.
func call(t *testing.T, endpoint, path string, messages ...[]byte) (answers [][]byte, err error) {
	t.Helper()
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := stream.SendMsg(&m); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for {
		var b []byte
		if err := stream.RecvMsg(&b); err == io.EOF {
			return answers, nil
		} else if err != nil {
			return answers, err
		}
		answers = append(answers, b)
	}
}

func TestTheRelaySpeaksGRPC(t *testing.T) {
	t.Parallel()
	s := Start(t, Config{Relay: true})
	info := s.relay.begin(1)
	head := message.RelayPart{Head: true, API: 1, Session: info.Session}
	chunk := message.RelayPart{Chunk: []byte("hello")}.AppendUpload(nil)
	answers, err := call(t, info.Endpoint, relay.PutPath, head.AppendUpload(nil), chunk, chunk)
	if err != nil || len(answers) != 1 {
		t.Fatal(answers, err)
	}
	ref, err := message.ParseRelayed(answers[0])
	if err != nil {
		t.Fatal(err)
	}
	path, err := s.relay.take(info.Session, ref)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "hellohello" {
		t.Errorf("%q, %v", b, err)
	}
	long := strings.Repeat("x", 3*relayChunk/2)
	path = filepath.Join(t.TempDir(), "object")
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	s.objects.paths = []string{path}
	get := message.RelayGet{API: 1, Tx: 9, Object: wire.RelayReference{Storage: 1, Object: 1, Tag: 9 ^ tag}}
	answers, err = call(t, info.Endpoint, relay.GetPath, get.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, b := range answers {
		p, err := message.ParseDownload(b)
		if err != nil || p.Head && p.Size != uint64(len(long)) {
			t.Error(p.Size, err)
		}
		got += string(p.Chunk)
	}
	if got != long || len(answers) != 3 {
		t.Errorf("%d bytes in %d messages", len(got), len(answers))
	}
	for want, messages := range map[codes.Code][][]byte{
		codes.InvalidArgument: {chunk},
		codes.NotFound:        {message.RelayPart{Head: true, API: 1}.AppendUpload(nil), chunk},
		codes.Unavailable:     {message.RelayPart{Head: true, API: 2}.AppendUpload(nil), chunk},
	} {
		if _, err := call(t, info.Endpoint, relay.PutPath, messages...); status.Code(err) != want {
			t.Errorf("%v instead of %v", err, want)
		}
	}
	get.Tx++
	if _, err := call(t, info.Endpoint, relay.GetPath, get.Append(nil)); status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
}
