package pubsub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gcp "cloud.google.com/go/pubsub/v2/apiv1"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// longSchema is a definition of nearly as many bytes as one may have. n tells it from others.
func longSchema(n int) string {
	return fmt.Sprintf(`{"type": "record", "name": "Seen", "fields": [{"name": "at", "type": "long"}], "doc": "%d%s"}`,
		n, strings.Repeat("x", 290<<10))
}

// schemaClient is Google's, as a program has it that takes answers of 4 MiB at most.
func (r *rig) schemaClient() *gcp.SchemaClient {
	r.t.Helper()
	c, err := gcp.NewSchemaClient(r.t.Context(), option.WithGRPCConn(r.conn), option.WithoutAuthentication())
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// all are what an iterator of Google's client gives.
func all[T any](t *testing.T, next func() (T, error)) (list []T) {
	t.Helper()
	for {
		x, err := next()
		if errors.Is(err, iterator.Done) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
}

func TestWholeSchemasAreListedInPagesThatClientsTake(t *testing.T) {
	const n = 15 // 4.3 MB
	r := newRig(t)
	c := r.schemaClient()
	var last *pb.Schema
	for i := range n {
		var err error
		if last, err = c.CreateSchema(t.Context(), &pb.CreateSchemaRequest{Parent: "projects/local",
			SchemaId: fmt.Sprintf("schema%02d", i),
			Schema:   &pb.Schema{Type: pb.Schema_AVRO, Definition: longSchema(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n - 1 {
		if _, err := c.CommitSchema(t.Context(), &pb.CommitSchemaRequest{Name: last.Name,
			Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: longSchema(n + i)}}); err != nil {
			t.Fatal(err)
		}
	}
	listed := all(t, c.ListSchemas(t.Context(),
		&pb.ListSchemasRequest{Parent: "projects/local", View: pb.SchemaView_FULL, PageSize: 1000}).Next)
	if len(listed) != n {
		t.Errorf("%d schemas are listed of %d", len(listed), n)
	}
	for i, s := range listed {
		if want := longSchema(i); i < n-1 && s.Definition != want {
			t.Errorf("schema %d is %.80q", i, s.Definition)
		}
	}
	revisions := all(t, c.ListSchemaRevisions(t.Context(),
		&pb.ListSchemaRevisionsRequest{Name: last.Name, View: pb.SchemaView_FULL, PageSize: 1000}).Next)
	if len(revisions) != n {
		t.Errorf("%d revisions are listed of %d", len(revisions), n)
	}
	for i, s := range revisions {
		if want := 2*n - 2 - i; i < n-1 && s.Definition != longSchema(want) {
			t.Errorf("revision %d is %.80q", i, s.Definition)
		}
	}
	if basic := all(t, c.ListSchemas(t.Context(),
		&pb.ListSchemasRequest{Parent: "projects/local"}).Next); len(basic) != n || basic[0].Definition != "" {
		t.Errorf("%d schemas are listed without their definitions", len(basic))
	}
}

// What lists and descriptions have counts as messages do: until the client has taken it.
func TestListsAndSchemasCountUntilTheyAreTaken(t *testing.T) {
	r := newRig(t)
	for i := range 8 {
		if _, err := r.schemaClient().CreateSchema(t.Context(), &pb.CreateSchemaRequest{Parent: "projects/local",
			SchemaId: fmt.Sprintf("schema%d", i),
			Schema:   &pb.Schema{Type: pb.Schema_AVRO, Definition: longSchema(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	account := door.NewBusy(32 << 20)
	account.Patience = 50 * time.Millisecond
	r.door.busy, r.door.answers = account, account.Share(16<<20)
	for _, c := range []struct {
		method string
		req    any
	}{
		{"ListSchemas", &pb.ListSchemasRequest{Parent: "projects/local", View: pb.SchemaView_FULL}},
		{"ListSchemaRevisions", &pb.ListSchemaRevisionsRequest{Name: "projects/local/schemas/schema1",
			View: pb.SchemaView_FULL}},
		{"GetSchema", &pb.GetSchemaRequest{Name: "projects/local/schemas/schema1"}},
	} {
		t.Run(c.method, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range 30 { // ask, and read nothing
				st, err := r.dial().NewStream(ctx, &grpc.StreamDesc{ServerStreams: true},
					"/google.pubsub.v1.SchemaService/"+c.method)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(st.SendMsg(c.req), st.CloseSend()); err != nil {
					t.Fatal(err)
				}
			}
			doortest.Until(t, "answers hold what they may", func() bool { return account.Used() > 13<<20 })
			if used := account.Used(); used > 16<<20 {
				t.Errorf("answers hold %d bytes", used)
			}
			_, err := r.schemaClient().GetSchema(t.Context(),
				&pb.GetSchemaRequest{Name: "projects/local/schemas/schema2"})
			wantCode(t, err, codes.ResourceExhausted)
			cancel()
			doortest.Until(t, "all is given back", func() bool { return account.Used() == 0 })
			if _, err := r.schemaClient().GetSchema(t.Context(),
				&pb.GetSchemaRequest{Name: "projects/local/schemas/schema2"}); err != nil {
				t.Error(err)
			}
			doortest.Until(t, "and by that call, too", func() bool { return account.Used() == 0 })
		})
	}
}
