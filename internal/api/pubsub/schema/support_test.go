package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

const (
	product = `{
  "type": "record", "name": "Product", "namespace": "shop",
  "fields": [
    {"name": "name", "type": "string", "default": ""},
    {"name": "sku", "type": "int"},
    {"name": "stock", "type": {"type": "map", "values": "long"}},
    {"name": "prices", "type": {"type": "array", "items": "double"}},
    {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}},
    {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
    {"name": "photo", "type": "bytes"},
    {"name": "note", "type": ["null", "string", "Color"]},
    {"name": "sold", "type": "boolean"},
    {"name": "weight", "type": "float"}
  ]
}`
	goodProduct = `{"name": "tea", "sku": 5, "stock": {"kyoto": 3}, "prices": [1.5, 2], "color": "BLUE", "hash": "\u00ff\u0000", "photo": "a\u00e9",
  "note": {"string": "x"}, "sold": false, "weight": 0.5}`

	order = `syntax = "proto3";
package shop;
message Order {
  message Item { string name = 1; int32 count = 2; }
  enum State { NEW = 0; SENT = 1; }
  string id = 1;
  repeated Item items = 2;
  State state = 3;
  map<string, int64> stock = 4;
  oneof paid { bool cash = 5; string card = 6; }
  optional double total = 7;
  bytes photo = 8;
}`
)

func compile(t testing.TB, k schema.Kind, definition string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(k, definition)
	if err != nil {
		t.Fatalf("%s\n%v", definition, err)
	}
	return s
}

func accepts(t *testing.T, s *schema.Schema, e schema.Encoding, message string) {
	t.Helper()
	if err := s.Validate([]byte(message), e); err != nil {
		t.Errorf("%q in %s: %v", message, e, err)
	}
}

// refuses checks that a message is refused at a field, with words in what the error says.
func refuses(t *testing.T, s *schema.Schema, e schema.Encoding, message, path, words string) {
	t.Helper()
	err := s.Validate([]byte(message), e)
	var wrong *schema.MessageError
	if !errors.As(err, &wrong) {
		t.Errorf("%q in %s is accepted: %v", message, e, err)
		return
	}
	if wrong.Path != path || !strings.Contains(wrong.Message, words) || !strings.Contains(err.Error(), wrong.Message) {
		t.Errorf("%q in %s: wanted %q at %q, got %q at %q", message, e, words, path, wrong.Message, wrong.Path)
	}
}
