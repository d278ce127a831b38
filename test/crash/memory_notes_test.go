//go:build linux

package crash

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// TestSchemasNeedNoMoreThan300MB makes schemas until they are refused, which stay in memory, and lets many clients ask
// for a list of them whole and not read it.
func TestSchemasNeedNoMoreThan300MB(t *testing.T) {
	s := serveWithin(t, tight, "")
	dial := func() *grpc.ClientConn {
		conn, err := grpc.NewClient(s.address(t, "pubsub"), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	schemas := pubsubpb.NewSchemaServiceClient(dial())
	definition := `{"type": "record", "name": "Seen", "fields": [{"name": "at", "type": "long"}], "doc": "` +
		strings.Repeat("x", 290<<10) + `"}`
	var refused error
	kept := 0
	for ; kept < 2000 && refused == nil; kept++ {
		_, refused = schemas.CreateSchema(t.Context(), &pubsubpb.CreateSchemaRequest{Parent: "projects/local",
			SchemaId: fmt.Sprintf("schema%d", kept),
			Schema:   &pubsubpb.Schema{Type: pubsubpb.Schema_AVRO, Definition: definition}})
	}
	t.Logf("%d schemas were kept", kept-1)
	if status.Code(refused) != codes.ResourceExhausted || !strings.Contains(refused.Error(), "bytes of memory") {
		t.Errorf("the last schema was answered with %v", refused)
	}
	if kept < 100 {
		t.Errorf("only %d schemas were kept", kept-1)
	}
	for range 100 {
		st, err := dial().NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true},
			"/google.pubsub.v1.SchemaService/ListSchemas")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(st.SendMsg(&pubsubpb.ListSchemasRequest{Parent: "projects/local", PageSize: 1000,
			View: pubsubpb.SchemaView_FULL}), st.CloseSend()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := schemas.DeleteSchema(t.Context(),
		&pubsubpb.DeleteSchemaRequest{Name: "projects/local/schemas/schema0"}); err != nil {
		t.Error("a schema cannot be deleted:", err)
	}
	if _, err := schemas.CreateSchema(t.Context(), &pubsubpb.CreateSchemaRequest{Parent: "projects/local",
		SchemaId: "another",
		Schema:   &pubsubpb.Schema{Type: pubsubpb.Schema_AVRO, Definition: definition}}); err != nil {
		t.Error("another schema in its place:", err)
	}
	s.survived(t, tight)
}
