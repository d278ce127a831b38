package pubsub

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// parseSchema reads the name of a schema, and of a revision if it says one.
func parseSchema(field, s string) (r resource, revision string, err error) {
	name, revision, _ := strings.Cut(s, "@")
	r, err = parseResource(field, name, kindSchema)
	return r, revision, err
}

// revisions are those of a schema, the last one first, without their definitions.
func (d *Server) revisions(ctx context.Context, r resource) ([]*pubsubpb.Schema, error) {
	all, _, err := d.keptRevisions(ctx, r)
	return all, err
}

// keptRevisions is revisions with the note that they are from.
func (d *Server) keptRevisions(ctx context.Context, r resource) ([]*pubsubpb.Schema, queue.NoteIs, error) {
	note := new(pubsubpb.ListSchemaRevisionsResponse)
	is, err := d.recall(ctx, noteKey(kindSchema, d.store.Resolve(r.name())), note)
	if err == nil && len(note.Schemas) == 0 {
		err = notFound(r)
	}
	return note.Schemas, is, err
}

// revision finds a schema that the caller may see by its name: its last revision, or the one that the name says.
func (d *Server) revision(ctx context.Context, name string) (resource, *pubsubpb.Schema, error) {
	r, revision, err := parseSchema("name", name)
	if err != nil {
		return r, nil, err
	}
	if err := d.seen(ctx, r); err != nil {
		return r, nil, err
	}
	all, err := d.revisions(ctx, r)
	if err != nil {
		return r, nil, err
	}
	found, err := pick(r, all, revision)
	return r, found, err
}

// pick finds a revision; "" is the last one.
func pick(r resource, all []*pubsubpb.Schema, revision string) (*pubsubpb.Schema, error) {
	if revision == "" {
		return all[0], nil
	}
	i := slices.IndexFunc(all, func(x *pubsubpb.Schema) bool { return x.RevisionId == revision })
	if i < 0 {
		return nil, status.Errorf(codes.NotFound, "there is no revision %.40q of %s", revision, r)
	}
	return all[i], nil
}

// newRevision is another revision behind those before.
func newRevision(before []*pubsubpb.Schema, kind pubsubpb.Schema_Type) *pubsubpb.Schema {
	now := time.Now()
	if len(before) > 0 {
		if last := before[0].RevisionCreateTime.AsTime(); !now.After(last) {
			now = last.Add(time.Nanosecond) // their times order them
		}
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	return &pubsubpb.Schema{Type: kind, RevisionId: hex.EncodeToString(id[:]), RevisionCreateTime: timestamppb.New(now)}
}

// rememberSchema keeps the revisions of a schema, and the definition of a new one, while those before are as they were
// read.
func (d *Server) rememberSchema(ctx context.Context, r resource, is queue.NoteIs, all []*pubsubpb.Schema, revision,
	definition string) error {
	value, err := proto.Marshal(&pubsubpb.ListSchemaRevisionsResponse{Schemas: all})
	if err != nil {
		return err
	}
	n := d.store.Resolve(r.name())
	notes := []queue.Note{{Room: room, Key: noteKey(kindSchema, n), Value: value}}
	for i := 0; len(definition) > 0; i++ {
		part := definition[:min(len(definition), queue.MaxNoteBytes)]
		definition = definition[len(part):]
		notes = append(notes, queue.Note{Room: room, Key: textKey(n, revision, i), Value: []byte(part)})
	}
	return d.note(ctx, is, d.commit, notes...)
}

// textKey is the key of a part of a definition, which may be larger than a note.
func textKey(n queue.Name, revision string, part int) string {
	return "definitions/" + n.String() + "@" + revision + "/" + strconv.Itoa(part)
}

// schemaText is the definition of a revision.
func (d *Server) schemaText(ctx context.Context, n queue.Name, revision string) (string, error) {
	var text strings.Builder
	for i := 0; ; i++ {
		part, ok, err := d.store.Note(ctx, room, textKey(n, revision, i))
		if err != nil || !ok {
			return text.String(), err
		}
		text.Write(part)
	}
}

// schemaSize is about how many bytes a revision has as clients see it.
func (d *Server) schemaSize(ctx context.Context, n queue.Name, revision string,
	view pubsubpb.SchemaView) (int64, error) {
	size := int64(entryBytes)
	if view != pubsubpb.SchemaView_FULL {
		return size, nil
	}
	for i := 0; ; i++ {
		part, ok, err := d.store.NoteSize(ctx, room, textKey(n, revision, i))
		if err != nil || !ok {
			return size, err
		}
		size += int64(part)
	}
}

// textNotes forget the definition of a revision.
func (d *Server) textNotes(ctx context.Context, n queue.Name, revision string) (notes []queue.Note, err error) {
	for i := 0; ; i++ {
		key := textKey(n, revision, i)
		if _, ok, err := d.store.NoteSize(ctx, room, key); err != nil || !ok {
			return notes, err
		}
		notes = append(notes, queue.Note{Room: room, Key: key})
	}
}

// showSchema is a revision as clients see it.
func (d *Server) showSchema(ctx context.Context, r resource, s *pubsubpb.Schema,
	view pubsubpb.SchemaView) (*pubsubpb.Schema, error) {
	s = proto.CloneOf(s)
	s.Name = r.String()
	var err error
	if view == pubsubpb.SchemaView_FULL {
		s.Definition, err = d.schemaText(ctx, d.store.Resolve(r.name()), s.RevisionId)
	}
	return s, err
}

// isSchema tells whether there is a schema of that name.
func (d *Server) isSchema(ctx context.Context, name string) (bool, error) {
	r, _, err := parseSchema("schema", name)
	if err != nil {
		return false, nil
	}
	_, err = d.revisions(ctx, r)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
