package function_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// zipFile packs a file of that name and text, and returns where the archive is.
func zipFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer.zip")
	if err := os.WriteFile(path, zipped(t, name, text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestALayerThatIsAnArchiveIsAtOptAndCannotBeWritten(t *testing.T) {
	dir, build := outside(t)
	folder := filepath.Join(dir, "first")
	write(t, filepath.Join(folder, "both"), "the folder's")
	p := open(t, function.Config{Dir: filepath.Join(dir, "pool")})
	d := deploy(t, p, func(d *function.Definition) {
		build(d)
		d.Layers = []string{folder, zipFile(t, "both", "the archive's"), zipFile(t, "bin/tool", "#!/bin/sh\n")}
	})
	layers := d.Definition.Layers
	var env []string
	answer(t, p, `{"do":"environment"}`, &env)
	if !slices.ContainsFunc(env,
		func(v string) bool { return strings.HasPrefix(v, "PATH="+filepath.Join(layers[2], "bin")+":") }) {
		t.Errorf("PATH: %q", env)
	}
	if p.Machine().Isolation.Room {
		if got := said(t, p, `{"do":"read","text":"/opt/both"}`); got != "the archive's" {
			t.Errorf("/opt/both: %q", got)
		}
		for _, at := range []string{"/opt/new", filepath.Join(layers[1], "new")} {
			if got := said(t, p, `{"do":"write","text":"`+at+`","n":1}`); !strings.Contains(got, "read-only") {
				t.Errorf("%s: %q", at, got)
			}
		}
	}
	if err := p.Remove("f", ""); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "what was unpacked is gone", func() bool {
		_, first := os.Stat(layers[1])
		_, second := os.Stat(layers[2])
		return errors.Is(first, os.ErrNotExist) && errors.Is(second, os.ErrNotExist)
	})
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("a layer that is a folder: %v", err)
	}
}

func TestCodeAndLayersAreBoundedTogether(t *testing.T) {
	dir := t.TempDir()
	p := open(t, function.Config{Dir: dir, CodeLimits: code.Limits{Bytes: 1000}})
	d := function.Definition{
		Name: "f", Runtime: "provided", Code: code.Source{Zip: zipped(t, "bootstrap", strings.Repeat("x", 400))},
		Layers: []string{zipFile(t, "a", strings.Repeat("x", 400)), zipFile(t, "b", strings.Repeat("x", 201))},
	}
	if _, err := p.Deploy(d); !errors.Is(err, code.ErrTooLarge) ||
		!strings.Contains(err.Error(), "code and layers together") {
		t.Errorf("%v", err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "code"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	d.Layers[1] = zipFile(t, "b", strings.Repeat("x", 200))
	if _, err := p.Deploy(d); err != nil && errors.Is(err, code.ErrTooLarge) {
		t.Errorf("just within the limit: %v", err)
	}
}

// A layer may be a folder of the machine that lies around what no function shall see.
func TestALayerShowsNothingThatIsHidden(t *testing.T) {
	dir, build := outside(t)
	around, layer := filepath.Join(dir, "around"), filepath.Join(dir, "layer")
	folder, file := filepath.Join(around, "folder"), filepath.Join(around, "file")
	write(t, filepath.Join(folder, "secret"), "sesame")
	write(t, file, "sesame")
	write(t, filepath.Join(around, "x"), "x")
	write(t, filepath.Join(layer, "y"), "y")
	p := open(t, function.Config{Dir: filepath.Join(dir, "pool"), Hide: []string{folder, file}})
	if !p.Machine().Isolation.Room {
		return // it is said
	}
	for _, layers := range [][]string{{around}, {around, layer}, {layer, around}} {
		deploy(t, p, func(d *function.Definition) { build(d); d.Layers = layers })
		if got := said(t, p, `{"do":"read","text":"/opt/x"}`); got != "x" {
			t.Errorf("%q: the layer is not there: %s", layers, got)
		}
		for _, path := range []string{"/opt/folder/secret", "/opt/file"} {
			if got := said(t, p, `{"do":"read","text":"`+path+`"}`); strings.Contains(got, "sesame") {
				t.Errorf("%q: %s is seen", layers, path)
			}
		}
	}
}
