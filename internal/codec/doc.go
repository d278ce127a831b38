// Package codec turns the text of a message into named, typed fields: sources do it as they read (decoding:), and the
// decode transform anywhere on the way.
//
// A Decoder replaces a message's body by a JSON object of the fields, in their order, and also sets the scalar fields
// that Config.Attributes names as attributes, so that conditions can name them. It frames nothing: one message is one
// record. It never guesses: what does not fit is an error that says which field, where, and what to do.
//
//	d, err := codec.New(codec.Config{
//		Codec:      "csv",
//		Columns:    []string{"at", "level", "text"},
//		Types:      map[string]string{"at": "timestamp", "level": "int"},
//		Attributes: []string{"level"},
//	})
//	if err != nil {
//		return err // a *component.SettingError
//	}
//	out, err := d.Decode(&message.Message{Body: []byte(`2026-01-02T03:04:05Z,3,"disk full, again"`)})
//	// out.Body: {"at":"2026-01-02T03:04:05Z","level":3,"text":"disk full, again"}, attribute level = 3
//
// Numbers keep every digit: nothing passes through a float64 on its way into the body. The package also reads JSON for
// the transforms that look into bodies: Tree for programs, Matcher for conditions.
package codec

// The limits of one message. They keep decoding bounded whatever a body holds.
const (
	MaxDepth  = 256    // levels of JSON objects and arrays in one another
	MaxFields = 10_000 // fields of a record; of a JSON body the members of its outermost object
	MaxDigits = 1_000  // characters of one number that becomes typed or an attribute
)
