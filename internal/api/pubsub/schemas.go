package pubsub

import (
	"context"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// schemaService is google.pubsub.v1.SchemaService.
type schemaService struct {
	pubsubpb.UnimplementedSchemaServiceServer
	d *Server
}

// compile compiles what a request says of a schema. A definition becomes many times as large: room for that is taken
// until the caller, which does not use it any more, calls give.
func (d *Server) compile(field string, s *pubsubpb.Schema) (c *schema.Schema, give func(), err error) {
	if s == nil {
		return nil, nil, invalid(field, "is missing")
	}
	if s.Configuration != nil {
		return nil, nil, unserved(field+".compiled_proto_schema", "a compiled definition")
	}
	kind, ok := map[pubsubpb.Schema_Type]schema.Kind{pubsubpb.Schema_AVRO: schema.Avro,
		pubsubpb.Schema_PROTOCOL_BUFFER: schema.Protobuf}[s.Type]
	if !ok {
		return nil, nil, invalid(field+".type", "is %v: AVRO or PROTOCOL_BUFFER is expected", s.Type)
	}
	if give, err = d.more(schema.CompileCost(kind, s.Definition), "compiling the schema"); err != nil {
		return nil, nil, err
	}
	if c, err = schema.Compile(kind, s.Definition); err != nil {
		give()
		return nil, nil, invalid(field+".definition", "%v", err)
	}
	return c, give, nil
}

// checkSchema refuses a schema that cannot be compiled.
func (d *Server) checkSchema(s *pubsubpb.Schema) error {
	_, give, err := d.compile("schema", s)
	if err == nil {
		give()
	}
	return err
}

// CreateSchema makes a schema with its first revision.
func (s schemaService) CreateSchema(ctx context.Context, req *pubsubpb.CreateSchemaRequest) (*pubsubpb.Schema, error) {
	d := s.d
	project, err := parseProject("parent", req.Parent)
	if err != nil {
		return nil, err
	}
	if err := d.checkSchema(req.Schema); err != nil {
		return nil, err
	}
	r := resource{project, kindSchema, or(req.SchemaId, newID())}
	if err := r.checkNew("schema_id"); err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	return anew(func() (*pubsubpb.Schema, error) {
		_, is, err := d.keptRevisions(ctx, r)
		if err == nil {
			return nil, exists(r)
		} else if !isNotFound(err) {
			return nil, err
		}
		return d.commitSchema(ctx, r, is, nil, req.Schema.Type, req.Schema.Definition)
	})
}

// commitSchema adds a revision.
func (d *Server) commitSchema(ctx context.Context, r resource, is queue.NoteIs, before []*pubsubpb.Schema,
	kind pubsubpb.Schema_Type, definition string) (*pubsubpb.Schema, error) {
	if len(before) >= schema.MaxRevisions {
		return nil, status.Errorf(codes.FailedPrecondition, "%s has %d revisions, %d at most: delete one first", r,
			len(before), schema.MaxRevisions)
	}
	next := newRevision(before, kind)
	if err := d.rememberSchema(ctx, r, is, append([]*pubsubpb.Schema{next}, before...), next.RevisionId,
		definition); err != nil {
		return nil, err
	}
	return d.showSchema(ctx, r, next, pubsubpb.SchemaView_FULL)
}

// GetSchema describes a schema: its last revision, or the one that the name says.
func (s schemaService) GetSchema(ctx context.Context, req *pubsubpb.GetSchemaRequest) (*pubsubpb.Schema, error) {
	r, found, err := s.d.revision(ctx, req.Name)
	if err != nil {
		return nil, err
	}
	view := or(req.View, pubsubpb.SchemaView_FULL)
	size, err := s.d.schemaSize(ctx, s.d.store.Resolve(r.name()), found.RevisionId, view)
	if err != nil {
		return nil, err
	}
	if err := roomFor(ctx, size); err != nil {
		return nil, err
	}
	return s.d.showSchema(ctx, r, found, view)
}

// ListSchemas lists the schemas of a project, with the last revision of each.
func (s schemaService) ListSchemas(ctx context.Context,
	req *pubsubpb.ListSchemasRequest) (*pubsubpb.ListSchemasResponse, error) {
	d := s.d
	project, err := parseProject("parent", req.Parent)
	if err != nil {
		return nil, err
	}
	view := or(req.View, pubsubpb.SchemaView_BASIC)
	names, err := d.notedNames(ctx, kindSchema)
	if err != nil {
		return nil, err
	}
	res := new(pubsubpb.ListSchemasResponse)
	res.Schemas, res.NextPageToken, err = gather(ctx, req, d.inProject(ctx, project, kindSchema, names),
		listing[queue.Name, *pubsubpb.Schema]{
			key: nameKey,
			size: func(n queue.Name) (int64, error) {
				all, err := d.revisions(ctx, resource{project, kindSchema, n.Name})
				if isNotFound(err) {
					return 0, nil // deleted meanwhile
				}
				if err != nil {
					return 0, err
				}
				return d.schemaSize(ctx, n, all[0].RevisionId, view)
			},
			make: func(n queue.Name) (*pubsubpb.Schema, error) {
				r := resource{project, kindSchema, n.Name}
				all, err := d.revisions(ctx, r)
				if err != nil {
					return nil, err
				}
				return d.showSchema(ctx, r, all[0], view)
			},
		})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// ListSchemaRevisions lists the revisions of a schema, the last one first.
func (s schemaService) ListSchemaRevisions(ctx context.Context,
	req *pubsubpb.ListSchemaRevisionsRequest) (*pubsubpb.ListSchemaRevisionsResponse, error) {
	r, _, err := parseSchema("name", req.Name)
	if err != nil {
		return nil, err
	}
	if err := s.d.seen(ctx, r); err != nil {
		return nil, err
	}
	all, err := s.d.revisions(ctx, r)
	if err != nil {
		return nil, err
	}
	n, view := s.d.store.Resolve(r.name()), or(req.View, pubsubpb.SchemaView_BASIC)
	res := new(pubsubpb.ListSchemaRevisionsResponse)
	res.Schemas, res.NextPageToken, err = gather(ctx, req, all, listing[*pubsubpb.Schema, *pubsubpb.Schema]{
		key:  func(x *pubsubpb.Schema) string { return newestFirst(x.RevisionCreateTime.AsTime()) },
		size: func(x *pubsubpb.Schema) (int64, error) { return s.d.schemaSize(ctx, n, x.RevisionId, view) },
		make: func(x *pubsubpb.Schema) (*pubsubpb.Schema, error) {
			shown, err := s.d.showSchema(ctx, r, x, view)
			if err == nil {
				shown.Name += "@" + shown.RevisionId
			}
			return shown, err
		},
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// CommitSchema adds a revision, which has to go with the last one.
func (s schemaService) CommitSchema(ctx context.Context, req *pubsubpb.CommitSchemaRequest) (*pubsubpb.Schema, error) {
	next, give, err := s.d.compile("schema", req.Schema)
	if err != nil {
		return nil, err
	}
	defer give()
	r, _, err := parseSchema("name", req.Name)
	if err != nil {
		return nil, err
	}
	if err := s.d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	for {
		now, err := s.d.revisions(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := s.d.checkRevision(ctx, r, now[0], next); err != nil {
			return nil, err
		}
		made, err := s.revise(ctx, req.Name, func(r resource, all []*pubsubpb.Schema,
			is queue.NoteIs) (*pubsubpb.Schema, error) {
			if all[0].RevisionId != now[0].RevisionId {
				return nil, nil // another one came, and this one has to go with that
			}
			return s.d.commitSchema(ctx, r, is, all, req.Schema.Type, req.Schema.Definition)
		})
		if made != nil || err != nil {
			return made, err
		}
	}
}

// checkRevision refuses a definition that does not go with the last one.
func (d *Server) checkRevision(ctx context.Context, r resource, last *pubsubpb.Schema, next *schema.Schema) error {
	c, give, err := d.compiled(ctx, r, last)
	if err != nil {
		return err
	}
	defer give()
	if err := schema.CheckRevision(c, next); err != nil {
		return invalid("schema.definition", "%v", err)
	}
	return nil
}

// revise changes the revisions of a schema.
func (s schemaService) revise(ctx context.Context, name string,
	how func(resource, []*pubsubpb.Schema, queue.NoteIs) (*pubsubpb.Schema, error)) (*pubsubpb.Schema, error) {
	d := s.d
	r, _, err := parseSchema("name", name)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	return anew(func() (*pubsubpb.Schema, error) {
		all, is, err := d.keptRevisions(ctx, r)
		if err != nil {
			return nil, err
		}
		return how(r, all, is)
	})
}

// RollbackSchema adds a revision that is a copy of an earlier one.
func (s schemaService) RollbackSchema(ctx context.Context, req *pubsubpb.RollbackSchemaRequest) (*pubsubpb.Schema,
	error) {
	return s.revise(ctx, req.Name, func(r resource, all []*pubsubpb.Schema,
		is queue.NoteIs) (*pubsubpb.Schema, error) {
		if req.RevisionId == "" {
			return nil, invalid("revision_id", "is missing")
		}
		to, err := pick(r, all, req.RevisionId)
		if err != nil {
			return nil, err
		}
		text, err := s.d.schemaText(ctx, s.d.store.Resolve(r.name()), to.RevisionId)
		if err != nil {
			return nil, err
		}
		return s.d.commitSchema(ctx, r, is, all, to.Type, text)
	})
}

// DeleteSchemaRevision removes one revision, but not the only one.
func (s schemaService) DeleteSchemaRevision(ctx context.Context,
	req *pubsubpb.DeleteSchemaRevisionRequest) (*pubsubpb.Schema, error) {
	_, revision, err := parseSchema("name", req.Name)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 older clients send it
	revision = or(revision, req.RevisionId)
	if revision == "" {
		return nil, invalid("name", "%q names no revision: projects/PROJECT/schemas/ID@REVISION is expected", req.Name)
	}
	return s.revise(ctx, req.Name, func(r resource, all []*pubsubpb.Schema,
		is queue.NoteIs) (*pubsubpb.Schema, error) {
		gone, err := pick(r, all, revision)
		if err != nil {
			return nil, err
		}
		if len(all) == 1 {
			return nil, status.Errorf(codes.FailedPrecondition, "%s is the only revision of %s: delete the schema",
				revision, r)
		}
		shown, err := s.d.showSchema(ctx, r, gone, pubsubpb.SchemaView_FULL)
		if err != nil {
			return nil, err
		}
		left := slices.DeleteFunc(slices.Clone(all), func(x *pubsubpb.Schema) bool { return x == gone })
		n := s.d.store.Resolve(r.name())
		value, err := proto.Marshal(&pubsubpb.ListSchemaRevisionsResponse{Schemas: left})
		if err != nil {
			return nil, err
		}
		notes, err := s.d.textNotes(ctx, n, gone.RevisionId)
		if err != nil {
			return nil, err
		}
		notes = append(notes, queue.Note{Room: room, Key: noteKey(kindSchema, n), Value: value})
		return shown, s.d.note(ctx, is, s.d.commit, notes...)
	})
}

// DeleteSchema removes a schema. Topics that use it refuse what is published.
func (s schemaService) DeleteSchema(ctx context.Context, req *pubsubpb.DeleteSchemaRequest) (*emptypb.Empty, error) {
	_, err := s.revise(ctx, req.Name, func(r resource, all []*pubsubpb.Schema,
		is queue.NoteIs) (*pubsubpb.Schema, error) {
		n := s.d.store.Resolve(r.name())
		notes := []queue.Note{{Room: room, Key: noteKey(kindSchema, n)}, {Room: room, Key: policyKey(r, n)}}
		for _, x := range all {
			texts, err := s.d.textNotes(ctx, n, x.RevisionId)
			if err != nil {
				return nil, err
			}
			notes = append(notes, texts...)
		}
		return nil, s.d.note(ctx, is, s.d.commit, notes...)
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// ValidateSchema tells whether a definition is right.
func (s schemaService) ValidateSchema(ctx context.Context,
	req *pubsubpb.ValidateSchemaRequest) (*pubsubpb.ValidateSchemaResponse, error) {
	if _, err := parseProject("parent", req.Parent); err != nil {
		return nil, err
	}
	if err := s.d.checkSchema(req.Schema); err != nil {
		return nil, err
	}
	return &pubsubpb.ValidateSchemaResponse{}, nil
}

// ValidateMessage tells whether a message fits a schema.
func (s schemaService) ValidateMessage(ctx context.Context,
	req *pubsubpb.ValidateMessageRequest) (*pubsubpb.ValidateMessageResponse, error) {
	if _, err := parseProject("parent", req.Parent); err != nil {
		return nil, err
	}
	encoding, ok := encodings[req.Encoding]
	if !ok {
		return nil, invalid("encoding", "is %v: JSON or BINARY is expected", req.Encoding)
	}
	var against *schema.Schema
	var give func()
	switch spec := req.SchemaSpec.(type) {
	case *pubsubpb.ValidateMessageRequest_Schema:
		var err error
		if against, give, err = s.d.compile("schema", spec.Schema); err != nil {
			return nil, err
		}
	case *pubsubpb.ValidateMessageRequest_Name:
		r, found, err := s.d.revision(ctx, spec.Name)
		if err != nil {
			return nil, err
		}
		if against, give, err = s.d.compiled(ctx, r, found); err != nil {
			return nil, err
		}
	default:
		return nil, invalid("schema_spec", "the name of a schema or a schema is expected")
	}
	defer give()
	wrong, err := s.d.validate(against, req.Message, encoding)
	if err != nil {
		return nil, err
	}
	if wrong != nil {
		return nil, invalid("message", "%v", wrong)
	}
	return &pubsubpb.ValidateMessageResponse{}, nil
}

// newestFirst is a text that orders times, the latest first.
func newestFirst(t time.Time) string {
	return time.Unix(0, 1<<62-t.UnixNano()).UTC().Format("2006-01-02T15:04:05.000000000")
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
