package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestAFileIsThereWholeOrAsItWas(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second, which is longer", ""} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := os.Mkdir(path+".d", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path+".d", nil); err == nil { // nothing takes the place of a folder
		t.Error("a file was written over a folder")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

func TestAFolderThatIsMissingIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	if err := WriteFile(filepath.Join(dir, "file"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := SyncDir(dir); !errors.Is(err, fs.ErrNotExist) && runtime.GOOS != "windows" {
		t.Errorf("%v", err)
	}
}
