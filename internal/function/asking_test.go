package function_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

// Version managers let the folder that they are called in choose the program. What they are asked runs as hikyaku.
func TestNoProgramOfAnArchiveRunsOutsideOfARoom(t *testing.T) {
	path, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	manager := "#!/bin/sh\nif [ -x ./python3 ]; then exec ./python3; fi\necho /usr/bin/python3\n"
	for _, name := range []string{"python3", "python3.11"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(manager), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", path+":/usr/bin:/bin")
	p := open(t, function.Config{})
	evil := "#!/bin/sh\necho \"$PWD\" > " + ran + "\n"
	deploy(t, p, func(d *function.Definition) {
		d.Runtime, d.Handler, d.Code = "python3.11", "app.handler", code.Source{Zip: zipped(t, "python3", evil)}
	})
	if where, err := os.ReadFile(ran); err == nil {
		t.Errorf("it has run in %s", where)
	}
}
