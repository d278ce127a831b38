package jq

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkSplit makes ten pushes of a message with ten users, as the campaign of the report on pushes does, by the
// short cut and without it: an op is the ten.
func BenchmarkSplit(b *testing.B) {
	var users []string
	for i := range 10 {
		users = append(users, fmt.Sprintf(`{"id":%d,"token":"%064x"}`, 4711+i, 4711+i))
	}
	m := &message.Message{Body: []byte(`{"users":[` + strings.Join(users, ",") + `]}`)}
	for _, c := range []struct {
		name   string
		config Config
	}{
		{"users", Config{Program: `.users[]`, Attributes: `{token, collapse_id: "user-\(.id)"}`}},
		{"objects", Config{Program: `.users[] | {id, to: .token}`, Attributes: map[string]any{"token": ".to"}}},
		{"bodies", Config{Program: `.users[]`}},
	} {
		made, err := New(c.config, component.Env{})
		if err != nil {
			b.Fatal(err)
		}
		short := made.(*transform)
		long := &transform{config: short.config}
		long.compiled.Store(short.compiled.Load())
		for _, way := range []struct {
			name string
			*transform
		}{{"short cut", short}, {"gojq", long}} {
			b.Run(c.name+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					n := 0
					if err := way.Transform(b.Context(), m, func(string, *message.Message) { n++ }); err != nil ||
						n != 10 {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
