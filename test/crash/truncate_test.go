//go:build linux

package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestALogThatIsTruncatedWhileTheProgramIsDeadIsReadAnew: the program dies before it has noted its place, and the lines
// that come after the truncation stand where others stood. They are not taken for those.
func TestALogThatIsTruncatedWhileTheProgramIsDeadIsReadAnew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, atStart, then, afterwards string }{
		{"empty at first", "", "one 1\ntwo 2\n", "one 3\ntwo 4\nsix 5\n"},
		{"a header at first", "time,level\n", "09:00,1\n09:01,1\n", "time,level\n10:00,2\n10:01,2\n"},
		{"shorter than before", "", "a long line\nanother long line\n", "b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, data := filepath.Join(dir, "app.log"), filepath.Join(dir, "data")
			config := preamble(data) + "sources: { logs: { type: file, include: ['" + path +
				"'], poll_interval: 10ms } }\n" +
				"sinks: { keep: { type: queue, inputs: [logs], queue: logs } }\n"
			write(t, path, c.atStart)
			s := serve(t, config)
			want := rows(c.atStart)
			until(t, says("the first %d lines are in the queue", want),
				func() bool { return arrived(t, s, "logs") == want })
			appendTo(t, path, c.then)
			want += rows(c.then)
			until(t, says("%d lines are in the queue", want), func() bool { return arrived(t, s, "logs") == want })
			s.kill()
			write(t, path, c.afterwards)
			s = serve(t, config)
			want += rows(c.afterwards)
			until(t, func() string { return says("%d lines are in the queue, but %d", want, arrived(t, s, "logs"))() },
				func() bool { return arrived(t, s, "logs") == want })
			s.stop(t)
			checkJournal(t, data)
		})
	}
}

func rows(text string) int { return strings.Count(text, "\n") }

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func arrived(t *testing.T, s *served, name string) int { return int(s.stats(t, name).Totals.Put) }
