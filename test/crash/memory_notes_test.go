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
	t.Parallel()
	s := serveWithin(t, tight)
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

// TestDefinitionsNeedNoMoreThan300MB makes queues with many columns until they are refused.
func TestDefinitionsNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	s := serveWithin(t, tight)
	var columns strings.Builder
	columns.WriteString(`{"columns":["a int"`)
	for n := range 2000 {
		fmt.Fprintf(&columns, `,"column_with_a_name_that_is_not_short_%d varchar(100) default 'nothing'"`, n)
	}
	columns.WriteString("]}")
	kept, refused := 0, ""
	for ; kept < 2000 && refused == ""; kept++ {
		code, text, err := ask(t, "PUT", fmt.Sprintf("http://%s/default/queues/q%d", s.address(t, "http"), kept),
			jsonHeader, columns.String())
		if err != nil {
			s.survived(t, tight)
			t.Fatal(err)
		}
		if code/100 != 2 {
			refused = fmt.Sprint(code, " ", text)
		}
	}
	t.Logf("%d queues were kept", kept-1)
	if !strings.HasPrefix(refused, "429 ") || !strings.Contains(refused, "bytes of memory") || kept < 20 {
		t.Errorf("the last of %d queues was answered with %s", kept, refused)
	}
	s.survived(t, tight)
}
