package function_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// An extension in the shell with curl: it writes each event that it is told of into a file.
const watcher = `#!/bin/sh
api=http://$AWS_LAMBDA_RUNTIME_API/2020-01-01/extension
id=$(curl -sS -D - -o "$TMPDIR/registered" -H "Lambda-Extension-Name: watcher" "$api/register" -d '{"events":["INVOKE","SHUTDOWN"]}' |
	grep -i Lambda-Extension-Identifier | tr -d '[:space:]' | cut -d: -f2)
while event=$(curl -sS -H "Lambda-Extension-Identifier: $id" "$api/event/next"); do
	echo "$event" >> "$SEEN"
	case $event in *SHUTDOWN*) exit 0 ;; esac
done
`

// layer makes a layer with an extension.
func layer(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "extensions"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "extensions", "watcher"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAnExtensionIsToldOfInvocationsAndOfTheEnd(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	seen := filepath.Join(t.TempDir(), "seen")
	deploy(t, p, func(d *function.Definition) {
		single(d)
		d.Layers, d.Environment = []string{layer(t, watcher)}, map[string]string{"SEEN": seen}
	})
	var ids []string
	for range 2 {
		ids = append(ids, invoke(t, p, `{}`).RequestID)
	}
	waittest.Until(t, "it is idle", func() bool { s, _ := p.Stats("f", ""); return s.Counts.Idle == 1 })
	if err := p.Remove("f", ""); err != nil {
		t.Fatal(err)
	}
	var text string
	waittest.Until(t, "the extension has seen the end", func() bool {
		b, _ := os.ReadFile(seen)
		text = string(b)
		return strings.Contains(text, "SHUTDOWN")
	})
	contains(t, "what it has seen", text, ids[0], ids[1], `"shutdownReason":"spindown"`)
}

func TestAnExtensionThatDiesEndsTheInstance(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Layers = []string{layer(t, "#!/bin/sh\nexit 5\n")} })
	r := invoke(t, p, `{}`)
	if r.ErrorType != "Extension.Crash" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	contains(t, "the payload", string(r.Payload), "exit status 5")
}

func TestALogCanBeFollowed(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	book, err := p.Log("f", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan string)
	go func() {
		var all strings.Builder
		var from uint64
		for !strings.Contains(all.String(), "REPORT") {
			lines, next, _, err := book.Next(ctx, from)
			if err != nil {
				break
			}
			for _, l := range lines {
				all.WriteString(l.Request + ": " + l.Text + "\n")
			}
			from = next
		}
		got <- all.String()
	}()
	r, err := p.Invoke(t.Context(),
		function.Request{Function: "f", ID: "me", Payload: []byte(`{"do":"print","text":"hello"}`)})
	if err != nil || r.LogTail != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if text := <-got; !strings.HasPrefix(text, "me: START RequestId: me Version: $LATEST\nme: hello\nme: END "+
		"RequestId: me\nme: REPORT RequestId: me\tDuration: ") {
		t.Errorf("%s", text)
	}
}

func TestHalfALineIsInTheLogOfItsInvocation(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	r := invoke(t, p, `{"do":"print half","text":"no end"}`)
	contains(t, "the log's end", string(r.LogTail), "no end\nEND RequestId: "+r.RequestID)
}
