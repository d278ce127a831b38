package pubsub

import (
	"strings"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
)

const seenV1 = `{"type": "record", "name": "Seen", "fields": [{"name": "at", "type": "long"}]}`

const seenV2 = `{"type": "record", "name": "Seen", "fields": [{"name": "at", "type": "long"}, {"name": "by", "type": "string", "default": ""}]}`

const seenName = "projects/local/schemas/seen"

func TestMessagesAreCheckedAgainstTheirSchema(t *testing.T) {
	r := newRig(t)
	schemas := pb.NewSchemaServiceClient(r.conn)
	made, err := schemas.CreateSchema(t.Context(), &pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "seen",
		Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV1}})
	if err != nil || made.Name != seenName || made.Definition != seenV1 || len(made.RevisionId) != 8 {
		t.Fatalf("%v, %v", made, err)
	}
	if _, err := r.pub.CreateTopic(t.Context(),
		&pb.Topic{Name: topicName("news"),
			SchemaSettings: &pb.SchemaSettings{Schema: seenName, Encoding: pb.Encoding_JSON}}); err != nil {
		t.Fatal(err)
	}
	r.subscribeTo("news", "readers")
	publish := func(text string) error {
		_, err := r.pub.Publish(t.Context(),
			&pb.PublishRequest{Topic: topicName("news"), Messages: []*pb.PubsubMessage{{Data: []byte(text)}}})
		return err
	}
	if err := publish(`{"at": 5}`); err != nil {
		t.Fatal(err)
	}
	wantCode(t, publish(`{"at": "x"}`), codes.InvalidArgument)
	wantCode(t, publish(`{"at": 5, "by": "me"}`), codes.InvalidArgument)
	got := r.pull("readers", 10)
	if len(got) != 1 {
		t.Fatal(texts(got))
	}
	for name, want := range map[string]string{"googclient_schemaname": seenName, "googclient_schemaencoding": "JSON",
		"googclient_schemarevisionid": made.RevisionId} {
		if v := got[0].Message.Attributes[name]; v != want {
			t.Errorf("%s is %q, not %q", name, v, want)
		}
	}

	next, err := schemas.CommitSchema(t.Context(),
		&pb.CommitSchemaRequest{Name: seenName, Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := publish(`{"at": 5, "by": "me"}`); err != nil {
		t.Error("by the new revision:", err)
	}
	if err := publish(`{"at": 5}`); err != nil {
		t.Error("by the first one:", err)
	}
	_, err = schemas.CommitSchema(t.Context(),
		&pb.CommitSchemaRequest{Name: seenName, Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: `"string"`}})
	wantCode(t, err, codes.InvalidArgument)
	back, err := schemas.RollbackSchema(t.Context(),
		&pb.RollbackSchemaRequest{Name: seenName, RevisionId: made.RevisionId})
	if err != nil || back.Definition != seenV1 || back.RevisionId == made.RevisionId {
		t.Errorf("%v, %v", back, err)
	}
	list, err := schemas.ListSchemaRevisions(t.Context(),
		&pb.ListSchemaRevisionsRequest{Name: seenName, View: pb.SchemaView_FULL})
	if err != nil || len(list.Schemas) != 3 || list.Schemas[0].RevisionId != back.RevisionId ||
		list.Schemas[2].Name != seenName+"@"+made.RevisionId || list.Schemas[1].Definition != seenV2 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := schemas.DeleteSchemaRevision(t.Context(),
		&pb.DeleteSchemaRevisionRequest{Name: seenName + "@" + next.RevisionId}); err != nil {
		t.Error(err)
	}
	wantCode(t, publish(`{"at": 5, "by": "me"}`), codes.InvalidArgument)
	one, err := schemas.GetSchema(t.Context(), &pb.GetSchemaRequest{Name: seenName, View: pb.SchemaView_BASIC})
	if err != nil || one.Definition != "" || one.RevisionId != back.RevisionId {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := schemas.DeleteSchema(t.Context(), &pb.DeleteSchemaRequest{Name: seenName}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, publish(`{"at": 5}`), codes.FailedPrecondition)
	topic, err := r.pub.GetTopic(t.Context(), &pb.GetTopicRequest{Topic: topicName("news")})
	if err != nil || topic.SchemaSettings.Schema != "_deleted-schema_" {
		t.Errorf("%v, %v", topic, err)
	}
	if notes := must(r.store.Notes(t.Context(), room)); len(notes) != 2 { // of the topic and its subscription
		t.Errorf("%d notes are left", len(notes))
	}
}

func TestLargeSchemasAndTheirRevisionsAreKept(t *testing.T) {
	dir := t.TempDir()
	s, stop := openStore(t, dir, time.Now)
	r := newRigOver(t, Config{}, nil, s)
	large := strings.Replace(seenV1, `"type": "record"`, `"type": "record", "doc": "`+strings.Repeat("飛脚", 40_000)+`"`,
		1)
	schemas := pb.NewSchemaServiceClient(r.conn)
	for _, id := range []string{"one", "two"} {
		if _, err := schemas.CreateSchema(t.Context(), &pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: id,
			Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: large}}); err != nil {
			t.Fatal(err)
		}
	}
	r.close()
	stop()
	s, stop = openStore(t, dir, time.Now)
	t.Cleanup(stop)
	r = newRigOver(t, Config{}, nil, s)
	schemas = pb.NewSchemaServiceClient(r.conn)
	list, err := schemas.ListSchemas(t.Context(),
		&pb.ListSchemasRequest{Parent: "projects/local", View: pb.SchemaView_FULL, PageSize: 1})
	if err != nil || len(list.Schemas) != 1 || list.NextPageToken == "" || list.Schemas[0].Definition != large {
		t.Errorf("%d schemas, %v", len(list.GetSchemas()), err)
	}
	if _, err := schemas.ValidateMessage(t.Context(), &pb.ValidateMessageRequest{
		Parent: "projects/local", SchemaSpec: &pb.ValidateMessageRequest_Name{Name: "projects/local/schemas/two"},
		Message: []byte(`{"at": 1}`), Encoding: pb.Encoding_JSON,
	}); err != nil {
		t.Error(err)
	}
	_, err = schemas.ValidateMessage(t.Context(), &pb.ValidateMessageRequest{
		Parent:     "projects/local",
		SchemaSpec: &pb.ValidateMessageRequest_Schema{Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV1}},
		Message:    []byte(`{}`), Encoding: pb.Encoding_JSON,
	})
	wantCode(t, err, codes.InvalidArgument)
	if _, err := schemas.ValidateSchema(t.Context(),
		&pb.ValidateSchemaRequest{Parent: "projects/local",
			Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV1}}); err != nil {
		t.Error(err)
	}
}
