package function_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Nothing can be started without a folder for temporary files, as on a disk that is full: the invocation says so, the
// pool goes on.
func TestAnInstanceThatCannotBeMadeIsAnError(t *testing.T) {
	dir := t.TempDir()
	p := open(t, function.Config{Dir: dir})
	deploy(t, p, single)
	instances := filepath.Join(dir, "instances")
	if err := os.RemoveAll(instances); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, p, `{}`)
	if r.ErrorType != "Runtime.Unknown" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	contains(t, "the payload", string(r.Payload), "function f: ", "temporary files")
	contains(t, "the log", text(t, p), "INIT\tfunction f: ")
	if r.Usage.Duration < 0 || r.Usage.Duration > time.Minute {
		t.Errorf("it took %v", r.Usage.Duration)
	}
	if err := os.Mkdir(instances, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, p, `"on"`); string(r.Payload) != `"on"` {
		t.Errorf("%+v with %s", r, r.Payload)
	}
}

// A bootstrap that is no program is said in the log, too: nothing else is there.
func TestWhatCannotBeStartedIsSaidInTheLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bootstrap"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Code = code.Source{Folder: dir} })
	invoke(t, p, `{}`)
	contains(t, "the log", text(t, p), "INIT\tfunction f: cannot start ", "exec format error")
}

// A runtime that cannot be started takes the extensions with it that were started before.
func TestExtensionsEndWithARuntimeThatCannotBeStarted(t *testing.T) {
	dir, layer := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(layer, "extensions"), 0o755); err != nil {
		t.Fatal(err)
	}
	extension := filepath.Join(layer, "extensions", "stays")
	for path, text := range map[string]string{filepath.Join(dir, "bootstrap"): "no program",
		extension: "#!/bin/sh\nwhile sleep 1; do :; done\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, function.Config{Unlimited: true}) // no control group ends it
	deploy(t, p, func(d *function.Definition) {
		d.Code, d.Layers = code.Source{Folder: dir}, []string{layer}
	})
	if r := invoke(t, p, `{}`); r.ErrorType != "Runtime.InvalidEntrypoint" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	waittest.Until(t, "no program of the extension is left", func() bool {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range lines {
			if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), extension) {
				return false
			}
		}
		return true
	})
}
