package pubsub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
)

// explained is a schema of which nearly all is a comment.
func explained(size int) *pb.Schema {
	return &pb.Schema{Type: pb.Schema_AVRO, Definition: `{"type": "record", "name": "R", "doc": "` +
		strings.Repeat("x", size) + `", "fields": [{"name": "f", "type": "int"}]}`}
}

// mapped is a schema that becomes more than a hundred times as large.
func mapped(size int) *pb.Schema {
	var b strings.Builder
	b.WriteString(`syntax="proto3";message M{`)
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "map<int32,M> f%d=%d;", n, n)
	}
	return &pb.Schema{Type: pb.Schema_PROTOCOL_BUFFER, Definition: b.String() + "}"}
}

// TestASchemaTakesRoomByWhatItBecomes and not by its length.
func TestASchemaTakesRoomByWhatItBecomes(t *testing.T) {
	r := newRig(t)
	r.full(16<<20, 16<<20, time.Hour)
	schemas := pb.NewSchemaServiceClient(r.conn)
	_, err := schemas.ValidateSchema(t.Context(), &pb.ValidateSchemaRequest{Parent: "projects/local",
		Schema: explained(280 << 10)})
	wantCode(t, err, codes.OK)
	_, err = schemas.ValidateSchema(t.Context(), &pb.ValidateSchemaRequest{Parent: "projects/local",
		Schema: mapped(100 << 10)})
	wantCode(t, err, codes.ResourceExhausted)
}

// TestSchemasAreRememberedByWhatTheyBecame and not by their lengths.
func TestSchemasAreRememberedByWhatTheyBecame(t *testing.T) {
	r := newRig(t)
	schemas := pb.NewSchemaServiceClient(r.conn)
	remembered := func(s *pb.Schema, n int) (kept int) {
		for i := range n {
			made, err := schemas.CreateSchema(t.Context(), &pb.CreateSchemaRequest{Parent: "projects/local", Schema: s})
			if err != nil {
				t.Fatal(err)
			}
			message := []byte("{}")
			if s.Type == pb.Schema_AVRO {
				message = []byte(`{"f": 1}`)
			}
			if _, err := schemas.ValidateMessage(t.Context(), &pb.ValidateMessageRequest{Parent: "projects/local",
				SchemaSpec: &pb.ValidateMessageRequest_Name{Name: made.Name}, Message: message,
				Encoding: pb.Encoding_JSON}); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
		}
		r.door.schemas.all.Range(func(_, _ any) bool { kept++; return true })
		return kept
	}
	if n := remembered(explained(280<<10), 5); n != 5 {
		t.Errorf("%d schemas of comments are remembered", n)
	}
	if n := remembered(mapped(100<<10), 2); n != 1 {
		t.Errorf("%d schemas of 12 MB are remembered", n)
	}
}
