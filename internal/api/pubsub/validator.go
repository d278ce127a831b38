package pubsub

import (
	"context"
	"slices"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
	"github.com/hikyaku/hikyaku/internal/message"
)

// encodings are those that messages of a schema can have.
var encodings = map[pubsubpb.Encoding]schema.Encoding{pubsubpb.Encoding_JSON: schema.JSON,
	pubsubpb.Encoding_BINARY: schema.Binary}

// Attributes that tell a subscriber by which schema a message was checked.
const (
	schemaNameAttribute     = "googclient_schemaname"
	schemaEncodingAttribute = "googclient_schemaencoding"
	schemaRevisionAttribute = "googclient_schemarevisionid"
)

// validator checks what is published to a topic with a schema.
type validator struct {
	d        *Server
	of       resource
	name     string
	encoding pubsubpb.Encoding
	gone     bool               // the schema, or every revision that was allowed, was deleted
	allowed  []*pubsubpb.Schema // the last one first, without definitions
}

// validator makes the one for a topic's settings; nil: they ask for none.
func (d *Server) validator(ctx context.Context, s *pubsubpb.SchemaSettings) (*validator, error) {
	if s == nil {
		return nil, nil
	}
	v := &validator{d: d, name: s.Schema, encoding: s.Encoding}
	r, _, err := parseSchema("schema", s.Schema)
	if err != nil {
		return nil, err
	}
	all, err := d.revisions(ctx, r)
	if isNotFound(err) {
		v.gone = true
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.of, v.allowed = r, between(all, s.FirstRevisionId, s.LastRevisionId)
	v.gone = len(v.allowed) == 0
	return v, nil
}

// between are the revisions from first to last, each included; "" is no bound. all begins with the last one.
func between(all []*pubsubpb.Schema, first, last string) []*pubsubpb.Schema {
	place := func(id string, none int) int {
		if id == "" {
			return none
		}
		return slices.IndexFunc(all, func(x *pubsubpb.Schema) bool { return x.RevisionId == id })
	}
	from, to := place(last, 0), place(first, len(all)-1)
	if from < 0 || to < from {
		return nil
	}
	return all[from : to+1]
}

// check refuses messages that fit no revision that is allowed, and notes in the others which one they fit: the last of
// those. One revision is compiled at a time, since all could be more than there is room for.
func (v *validator) check(ctx context.Context, ms []message.Message) error {
	if v.gone {
		return status.Errorf(codes.FailedPrecondition, "the topic's schema %s was deleted, or its revisions were: "+
			"nothing can be published", v.name)
	}
	left := make([]int, len(ms))
	for i := range left {
		left[i] = i
	}
	for _, x := range v.allowed {
		c, give, err := v.d.compiled(ctx, v.of, x)
		if err != nil {
			return err
		}
		var failed error
		left = slices.DeleteFunc(left, func(i int) bool {
			if failed != nil {
				return false
			}
			wrong, err := v.d.validate(c, ms[i].Body, encodings[v.encoding])
			if err != nil {
				failed = err
			} else if wrong == nil {
				v.fits(&ms[i], x.RevisionId)
			}
			return err == nil && wrong == nil
		})
		give()
		if failed != nil || len(left) == 0 {
			return failed
		}
	}
	c, give, err := v.d.compiled(ctx, v.of, v.allowed[0]) // the last revision says what is wrong
	if err != nil {
		return err
	}
	defer give()
	wrong, err := v.d.validate(c, ms[left[0]].Body, encodings[v.encoding])
	if err != nil {
		return err
	}
	return invalid("messages", "message %d: %v", left[0], wrong)
}

// validate tells what is wrong with a message, if there is room for what it becomes; err is why there is none.
func (d *Server) validate(c *schema.Schema, body []byte, e schema.Encoding) (wrong, err error) {
	give, err := d.more(c.Cost(body, e), "checking a message against its schema")
	if err != nil {
		return nil, err
	}
	defer give()
	return c.Validate(body, e), nil
}

func (v *validator) fits(m *message.Message, revision string) {
	m.Attributes.Set(schemaNameAttribute, message.String(v.name))
	m.Attributes.Set(schemaEncodingAttribute, message.String(v.encoding.String()))
	m.Attributes.Set(schemaRevisionAttribute, message.String(revision))
}

// checkSchemaSettings refuses settings of a topic that could never let a message through, and schemas that the caller
// may not know of. was is what was set before.
func (d *Server) checkSchemaSettings(ctx context.Context, s, was *pubsubpb.SchemaSettings) error {
	if s == nil || s.Schema == deletedSchema {
		return nil
	}
	r, _, err := parseSchema("schema_settings.schema", s.Schema)
	if err != nil {
		return err
	}
	if s.Schema != was.GetSchema() { // who publishes learns of a schema what fits it
		if err := d.seen(ctx, r); err != nil {
			return err
		}
	}
	if _, ok := encodings[s.Encoding]; !ok {
		return invalid("schema_settings.encoding", "is %v: JSON or BINARY is expected", s.Encoding)
	}
	all, err := d.revisions(ctx, r)
	if err != nil {
		return err
	}
	for _, id := range []string{s.FirstRevisionId, s.LastRevisionId} {
		if _, err := pick(r, all, id); err != nil {
			return err
		}
	}
	if len(between(all, s.FirstRevisionId, s.LastRevisionId)) == 0 {
		return invalid("schema_settings", "first_revision_id is later than last_revision_id")
	}
	return nil
}
