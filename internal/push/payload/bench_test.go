package payload

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkMake makes a payload, by the short cut and without it.
func BenchmarkMake(b *testing.B) {
	m := &message.Message{Body: []byte(
		`{"id":4711,"news":42,"title":"飛脚が参ります","text":"The courier is coming","token":"0000000000000000000000000000000000000000000000000000000000001267"}`)}
	m.Attributes.Set("user", message.Int(4711))
	for _, c := range []struct{ name, program string }{
		{"id", `{aps: {alert: "test for \(.id)"}}`},
		{"title and text", `{aps: {alert: {title, body: .text}}, news}`},
		{"attributes", `{aps: {alert: .title}, user: $attributes.user}`},
	} {
		short, err := Compile("payload", c.program)
		if err != nil {
			b.Fatal(err)
		}
		long := *short
		long.short = shortcut{}
		for _, way := range []struct {
			name string
			*Program
		}{{"short cut", short}, {"gojq", &long}} {
			b.Run(c.name+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := way.Make(m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
