package schema_test

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

func Example() {
	s, err := schema.Compile(schema.Protobuf, `syntax = "proto3"; message Seen { string who = 1; int64 at = 2; }`)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Validate([]byte(`{"who": "Ken", "at": "5"}`), schema.JSON))
	_, err = schema.Compile(schema.Protobuf, "syntax = \"proto3\";\nmessage Seen { strng who = 1; }")
	fmt.Println(err)
	// Output:
	// <nil>
	// schema definition, line 2, column 16: field Seen.who: unknown type strng
}
