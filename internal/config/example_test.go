package config_test

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/config"
)

func ExampleParse() {
	text := []byte(`
queues:
  news: { max_attemps: 5 }
sinks:
  archive: { type: fil, inputs: [shape], path: "${OUT}" }
`)
	env := func(string) (string, bool) { return "", false }
	_, err := config.Parse("hikyaku.yaml", text, env)
	fmt.Println(err)
	// Output:
	// hikyaku.yaml:3:11: unknown key "max_attemps" in queues.news (did you mean "max_attempts"? keys here: columns, dead_letter, dedup_window, delay, exactly_once, filter, history, labels, lease, max_attempts, max_bytes, max_messages, ordering, retention, topic)
	// hikyaku.yaml:5:20: sinks.archive: there is no sink of type "fil" (did you mean "file"? types: apns, fcm, file, function, gamepad, hms, mysql, nats, postgres, queue, s3, sqlite, stdout, tsurugidb, webhook, webpush, wns)
	// hikyaku.yaml:5:49: the environment variable OUT is not set (set it, or write ${OUT:-default})
}

func ExampleErrors_Pretty() {
	text := []byte("sources:\n  lines: { type: stdin, max_line_byte: 5 }\n")
	_, err := config.Parse("hikyaku.yaml", text, func(string) (string, bool) { return "", false })
	if errs, ok := err.(config.Errors); ok {
		fmt.Println(errs.Pretty(text))
	}
	// Output:
	// hikyaku.yaml:2:25: unknown key "max_line_byte" in sources.lines
	//     2 |   lines: { type: stdin, max_line_byte: 5 }
	//       |                         ^ did you mean "max_line_bytes"? keys here: decoding, max_line_bytes, skip_empty, skip_long_lines, type
}
