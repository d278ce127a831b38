package codec_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name   string
		config codec.Config
		in     string
	}{
		{"json", codec.Config{Codec: "json"},
			`{"at":"2026-01-02T03:04:05Z","level":3,"text":"disk full, again","user":{"id":7,"tags":["a","b"]}}`},
		{"json-attributes", codec.Config{Codec: "json", Attributes: []string{"level", "user.id"}},
			`{"at":"2026-01-02T03:04:05Z","level":3,"text":"disk full, again","user":{"id":7,"tags":["a","b"]}}`},
		{"csv", codec.Config{Codec: "csv", Columns: []string{"at", "level", "text"},
			Types: map[string]string{"level": "int"}, Attributes: []string{"level"}},
			`2026-01-02T03:04:05Z,3,"disk full, again"`},
		{"logfmt", codec.Config{Codec: "logfmt", Types: map[string]string{"status": "int"}},
			`at=info method=GET path="/a?b=c" host=example.jp status=200 bytes=1234`},
		{"regex", codec.Config{Codec: "regex",
			Pattern: `^(?P<at>\S+ \S+) status (?P<state>\S+) (?P<what>\S+) (?P<version>\S+)$`}, "2025-06-24 14:36:25 " +
			"status installed libsystemd0:amd64 252.38-1~deb12u1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := mustNew(b, c.config)
			m := &message.Message{Body: []byte(c.in)}
			b.SetBytes(int64(len(c.in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("match-body", func(b *testing.B) {
		matcher := codec.NewMatcher(expr(b, "level >= 3 and user.id = 7"))
		m := &message.Message{Body: []byte(
			`{"at":"2026-01-02T03:04:05Z","level":3,"text":"disk full, again","user":{"id":7,"tags":["a","b"]}}`)}
		b.ReportAllocs()
		for b.Loop() {
			if !matcher.Subject(m).Match(0) {
				b.Fatal("no match")
			}
		}
	})
}
