package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
)

// openSaying opens a house over a folder, with more of a configuration, for as long as the function runs, and returns
// what it logged.
func openSaying(t *testing.T, data, more string, during func(h *house)) string {
	t.Helper()
	f, err := config.Parse("x.yaml", []byte("data_dir: "+data+"\n"+more), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	h, err := openHouse(t.Context(), f, &said, false)
	if err != nil {
		t.Fatal(err)
	}
	during(h)
	if err := h.end(nil); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

// openAndClose opens a house over a folder, and returns what it logged.
func openAndClose(t *testing.T, data string) string {
	t.Helper()
	return openSaying(t, data, "", func(*house) {})
}

func TestADataFolderIsForItsOwnerAndAnOpenOneIsSaid(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	data := filepath.Join(t.TempDir(), "above", "data")
	said := openAndClose(t, data)
	seen := 0
	if err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if seen++; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if seen < 6 || strings.Contains(said, "other accounts") {
		t.Errorf("%d files and folders; it said\n%s", seen, said)
	}
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if said := openAndClose(t, data); !strings.Contains(said, "other accounts of this machine") ||
		!strings.Contains(said, "first="+data) || !strings.Contains(said, "chmod -R go=") {
		t.Errorf("of an open folder it said\n%s", said)
	}
	for _, path := range []string{filepath.Join(data, "code"), filepath.Join(functionsDir(data), "code"),
		filepath.Join(data, "journal", "note")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		_, before := openToOthers(data)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, n := openToOthers(data); n != before+1 {
			t.Errorf("with %s open %d folders and files are, %d were before", path, n, before)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder was changed: %v, %v", info.Mode(), err)
	}
}
