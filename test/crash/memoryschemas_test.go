//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestCompiledSchemasNeedNoMoreThan300MB has many clients at once ask about definitions that become many times as large
// when they are compiled, and uses more of them than could be kept compiled.
func TestCompiledSchemasNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	s := serveWithin(t, tight)
	schemas := pubsubpb.NewSchemaServiceClient(pubsubOf(t, s.address(t, "pubsub")))
	var definition strings.Builder
	definition.WriteString(`syntax = "proto3"; message M { `)
	for n := range 9000 {
		fmt.Fprintf(&definition, "message M%d{int32 a=1;}", n)
	}
	definition.WriteString("}")
	schema := &pubsubpb.Schema{Type: pubsubpb.Schema_PROTOCOL_BUFFER, Definition: definition.String()}
	taken, _ := outcomes(t, 24, func(int) (bool, bool, error) {
		_, err := schemas.ValidateSchema(t.Context(), &pubsubpb.ValidateSchemaRequest{Parent: "projects/local",
			Schema: schema})
		return err == nil, status.Code(err) == codes.ResourceExhausted, err
	})
	if taken == 0 {
		t.Error("nobody was answered")
	}
	s.survived(t, tight)
	for n := range 12 {
		name := fmt.Sprintf("schema%d", n)
		if _, err := schemas.CreateSchema(t.Context(), &pubsubpb.CreateSchemaRequest{Parent: "projects/local",
			SchemaId: name, Schema: schema}); err != nil {
			t.Fatal(err)
		}
		if _, err := schemas.ValidateMessage(t.Context(), &pubsubpb.ValidateMessageRequest{Parent: "projects/local",
			SchemaSpec: &pubsubpb.ValidateMessageRequest_Name{Name: "projects/local/schemas/" + name},
			Message:    []byte("{}"), Encoding: pubsubpb.Encoding_JSON}); err != nil {
			t.Fatal(err)
		}
	}
	s.survived(t, tight)
}

// TestMessagesOfManyValuesNeedNoMoreThan300MB has messages checked that are many times as large in memory.
func TestMessagesOfManyValuesNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	s := serveWithin(t, tight)
	schemas := pubsubpb.NewSchemaServiceClient(pubsubOf(t, s.address(t, "pubsub")))
	for _, size := range []int{300 << 10, 6 << 20} {
		outcomes(t, 8, func(int) (bool, bool, error) {
			_, err := schemas.ValidateMessage(t.Context(), &pubsubpb.ValidateMessageRequest{Parent: "projects/local",
				SchemaSpec: &pubsubpb.ValidateMessageRequest_Schema{Schema: &pubsubpb.Schema{
					Type:       pubsubpb.Schema_PROTOCOL_BUFFER,
					Definition: `syntax = "proto3"; message M { repeated M m = 1; }`}},
				Message: bytes.Repeat([]byte{10, 0}, size/2), Encoding: pubsubpb.Encoding_BINARY})
			return err == nil, status.Code(err) == codes.ResourceExhausted, err
		})
		s.survived(t, tight)
	}
}
