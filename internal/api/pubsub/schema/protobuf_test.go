package schema_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

func TestProtocolBuffersInJSON(t *testing.T) {
	s := compile(t, schema.Protobuf, order)
	for _, good := range []string{
		`{}`, `{"id": "x", "items": [{"name": "tea", "count": 2}], "state": "SENT", "stock": {"kyoto": "3"}, "card": "1", "total": 1.5, "photo": "/+8="}`,
		`{"state": 1}`, `{"total": "NaN"}`, `{"id": null}`,
	} {
		accepts(t, s, schema.JSON, good)
	}
	for message, words := range map[string]string{
		"": "syntax error", "{": "unexpected", `[]`: "unexpected token [", `{} {}`: "unexpected",
		`{"id": 5}`:    "invalid value for string field id",
		`{"ids": "x"}`: `unknown field "ids"`, `{"state": "GONE"}`: "GONE", `{"items": {}}`: "unexpected token {",
		`{"cash": true, "card": "1"}`: "oneof",
		`{"photo": "*"}`:              "photo", `{"items": [{"count": 3000000000}]}`: "count",
	} {
		refuses(t, s, schema.JSON, message, "", words)
	}
}

func TestProtocolBuffersInBinary(t *testing.T) {
	s := compile(t, schema.Protobuf, order)
	item := protowire.AppendTag(nil, 1, protowire.BytesType)
	item = protowire.AppendString(item, "tea")
	message := protowire.AppendTag(nil, 2, protowire.BytesType)
	message = protowire.AppendBytes(message, item)
	accepts(t, s, schema.Binary, "")
	accepts(t, s, schema.Binary, string(message))
	// an unknown field
	accepts(t, s, schema.Binary, string(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)))
	refuses(t, s, schema.Binary, string(message[:len(message)-1]), "", "")
	refuses(t, s, schema.Binary, "hello, world", "", "")
	refuses(t, s, schema.Binary,
		string(protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "\xff")), "", "UTF-8")
}

func TestRequiredFieldsHaveToBeThere(t *testing.T) {
	s := compile(t, schema.Protobuf, `message M { required int32 a = 1; optional M m = 2; }`)
	refuses(t, s, schema.JSON, `{}`, "", "required field")
	refuses(t, s, schema.Binary, "", "", "required field")
	accepts(t, s, schema.JSON, `{"a": 1}`)
	refuses(t, s, schema.JSON, `{"a": 1, "m": {}}`, "", "required field")
	accepts(t, s, schema.Binary, "\x08\x01")
}

func TestMessagesInProtocolBuffersAreNestedSoDeepAndNoDeeper(t *testing.T) {
	s := compile(t, schema.Protobuf, `syntax = "proto3"; message M { M m = 1; }`)
	nested := func(n int) string {
		b := ""
		for range n {
			b = "\x0a" + string(protowire.AppendVarint(nil, uint64(len(b)))) + b
		}
		return b
	}
	accepts(t, s, schema.Binary, nested(50))
	accepts(t, s, schema.JSON, strings.Repeat(`{"m":`, 50)+"{}"+strings.Repeat("}", 50))
	refuses(t, s, schema.Binary, nested(150), "", "recursion")
	refuses(t, s, schema.JSON, strings.Repeat(`{"m":`, 150)+"{}"+strings.Repeat("}", 150), "", "recursion")
}
