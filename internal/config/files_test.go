package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesThatSettingsNameAreMissedWhenTheyAreNotThere(t *testing.T) {
	dir := t.TempDir()
	here := filepath.Join(dir, "here.pem")
	if err := os.WriteFile(here, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := parse(t, "a.yaml", `
api: { http: { tls: { cert: `+here+`, key: `+dir+`/gone.key } } }
sources: { lines: { type: stdin } }
sinks:
  hook: { type: webhook, inputs: lines, url: https://localhost, tls: { ca_file: "${SECRET_PLACE}" } }
`, "SECRET_PLACE="+dir+"/hidden")
	got := f.MissingFiles()
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}
	if want := `a.yaml:2:`; !strings.HasPrefix(got[0].Error(), want) ||
		!strings.Contains(got[0].Message, "api.http.tls.key: ") || !strings.Contains(got[0].Message, "gone.key") {
		t.Errorf("%v", got[0])
	}
	if got[1].Line != 5 || !strings.Contains(got[1].Message, "sinks.hook.tls.ca_file: the file: ") ||
		strings.Contains(got[1].Message, "hidden") {
		t.Errorf("%v", got[1])
	}
}
