// Package schema is what Pub/Sub's schemas mean: it compiles definitions in Avro and in Protocol Buffers, checks
// messages against them, and tells whether a definition may follow another as a revision of one schema. It keeps
// nothing and knows neither topics nor names of schemas.
//
//	s, err := schema.Compile(schema.Avro, `{"type": "record", "name": "Seen", "fields": [{"name": "at", "type": "long"}]}`)
//	if err != nil {
//		return err // a *schema.DefinitionError: what is wrong, and in which line
//	}
//	err = s.Validate([]byte(`{"at": 5}`), schema.JSON) // nil, or a *schema.MessageError: what is wrong, and at which field
//
// # Definitions
//
// As with Google a definition has at most MaxDefinitionBytes and one type at the top. In Avro (the specification 1.11)
// that is any type but a union; in Protocol Buffers (proto2 and proto3) one message, which holds all others, and no
// import. A name has at most 512 bytes with the names of all that it is nested in (in Avro 256, and as many in its
// namespace), a message at most 2,000 oneofs (in proto3 an optional field is one), and a definition 2,000 reserved
// names: what is made of a definition would grow with their square.
//
// # Messages
//
// A message is the one value, whole, with nothing behind it. In Avro's JSON a union's value carries the name of its
// branch, as in {"string": "x"}; every field of a record is there, whatever its default, and no other; bytes are a
// string of characters up to U+00FF. In the JSON of Protocol Buffers an unknown field is refused; in their binary form
// it is not, as everywhere else, and required fields have to be there. Nothing is nested deeper than MaxNesting.
//
// # Revisions
//
// A new revision in Protocol Buffers may add and remove optional fields (all singular fields of proto3 are), and
// nothing else; in Avro each of the two has to be able to read what the other wrote.
package schema

// The limits of schemas.
const (
	MaxDefinitionBytes = 300 << 10
	MaxRevisions       = 20  // of one schema
	MaxNesting         = 100 // levels of a message in one another
)
