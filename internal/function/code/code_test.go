package code_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function/code"
)

// file is an entry of an archive.
type file struct {
	name, text string
	mode       fs.FileMode
}

func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAnArchiveIsUnpackedWithItsModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	archive := pack(t, file{"bootstrap", "#!/bin/sh\n", 0o755}, file{"lib/", "", fs.ModeDir | 0o755},
		file{"lib/deep/a.txt", "a", 0o600}, file{"./b.txt", "b", 0})
	p, err := code.Place(dir, code.Source{Zip: archive}, code.Limits{})
	if err != nil || p.Dir != dir || p.Size != int64(len(archive)) || len(p.SHA256) != 44 {
		t.Fatalf("%+v, %v", p, err)
	}
	for name, want := range map[string]struct {
		text string
		mode fs.FileMode
	}{"bootstrap": {"#!/bin/sh\n", 0o755}, "lib/deep/a.txt": {"a", 0o644}, "b.txt": {"b", 0o644}} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(text) != want.text {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o111 != want.mode&0o111 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestAnArchiveInAFileIsTheSame(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.jar")
	if err := os.WriteFile(path, pack(t, file{"A.class", "x", 0}), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := code.Place(filepath.Join(dir, "new"), code.Source{File: path}, code.Limits{})
	if err != nil || p.SHA256 == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err := code.Place(filepath.Join(dir, "other"), code.Source{File: dir}, code.Limits{}); err != nil ||
		p.Dir != dir {
		t.Errorf("a folder given as a file: %+v, %v", p, err)
	}
}

func TestAFolderStaysWhereItIs(t *testing.T) {
	dir := t.TempDir()
	p, err := code.Place(filepath.Join(dir, "new"), code.Source{Folder: dir}, code.Limits{})
	if err != nil || p.Dir != dir || p.Size != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was made")
	}
}

func TestNothingIsUnpackedOutsideOfTheFolder(t *testing.T) {
	for _, name := range []string{"../out", "a/../../out", "/out", "..", `..\out`, "a/../..", "a\x00b", "./../out",
		strings.Repeat("a/", 3000) + "b"} {
		t.Run(strings.ToValidUTF8(name[:min(20, len(name))], "?"), func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "in")
			_, err := code.Place(dir, code.Source{Zip: pack(t, file{"good", "x", 0}, file{name, "evil", 0})},
				code.Limits{})
			if !errors.Is(err, code.ErrUnsafe) {
				t.Errorf("%v", err)
			}
			if entries, err := os.ReadDir(top); err != nil || len(entries) != 0 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		})
	}
}

func TestLinksAndDevicesAreRefused(t *testing.T) {
	for _, mode := range []fs.FileMode{fs.ModeSymlink | 0o777, fs.ModeDevice | 0o666, fs.ModeNamedPipe | 0o666} {
		_, err := code.Place(filepath.Join(t.TempDir(), "in"),
			code.Source{Zip: pack(t, file{"link", "/etc/passwd", mode}, file{"link/x", "evil", 0})}, code.Limits{})
		if !errors.Is(err, code.ErrUnsafe) || !strings.Contains(err.Error(), `"link"`) {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

func TestWhatIsUnpackedIsBounded(t *testing.T) {
	big := pack(t, file{"a", strings.Repeat("x", 60_000), 0}, file{"b", strings.Repeat("x", 60_000), 0})
	for name, l := range map[string]code.Limits{"bytes": {Bytes: 100_000}, "the archive itself": {Bytes: 10},
		"files": {Files: 1}} {
		dir := filepath.Join(t.TempDir(), "in")
		if _, err := code.Place(dir, code.Source{Zip: big}, l); !errors.Is(err, code.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something is left", name)
		}
	}
	if _, err := code.Place(filepath.Join(t.TempDir(), "in"), code.Source{Zip: big},
		code.Limits{Bytes: 120_000, Files: 2}); err != nil {
		t.Errorf("just within the limits: %v", err)
	}
}

// A folder takes a block of the disk, and names of 4 KB have two thousand of them.
func TestFoldersCountAsFiles(t *testing.T) {
	deep := strings.Repeat("a/", 90) + "file"
	for limit, fits := range map[int]bool{92: true, 91: false} {
		dir := filepath.Join(t.TempDir(), "new")
		archive := pack(t, file{deep, "x", 0}, file{"a/", "", fs.ModeDir | 0o755}, file{"b", "x", 0})
		_, err := code.Place(dir, code.Source{Zip: archive}, code.Limits{Files: limit})
		if _, there := os.Stat(dir); fits != (err == nil) || fits != (there == nil) ||
			!fits && !errors.Is(err, code.ErrTooLarge) {
			t.Errorf("at most %d: %v, %v", limit, err, there)
		}
	}
}

// An entry of a directory takes 46 bytes of an archive, and several hundred of our memory before it is counted.
func TestADirectoryIsBoundedBeforeItIsRead(t *testing.T) {
	const entries = 1_000_000
	entry := make([]byte, 47)
	binary.LittleEndian.PutUint32(entry, 0x02014b50)
	entry[28], entry[46] = 1, 'a'
	end := make([]byte, 22)
	binary.LittleEndian.PutUint32(end, 0x06054b50)
	binary.LittleEndian.PutUint16(end[10:], entries%(1<<16))
	binary.LittleEndian.PutUint32(end[12:], entries*47)
	archive := append(bytes.Repeat(entry, entries), end...)
	at := filepath.Join(t.TempDir(), "a.jar")
	if err := os.WriteFile(at, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := code.OpenFile(at); !errors.Is(err, code.ErrTooLarge) {
		t.Errorf("a jar: %v", err)
	}
	_, err := code.Place(filepath.Join(t.TempDir(), "new"), code.Source{Zip: archive}, code.Limits{})
	if !errors.Is(err, code.ErrTooLarge) || !strings.Contains(err.Error(), "its directory has more than") {
		t.Errorf("an archive: %v", err)
	}
}

func TestAnArchiveThatCannotBeUnpackedIsItsSendersFault(t *testing.T) {
	whole := pack(t, file{"app.py", strings.Repeat("print()\n", 500), 0})
	spoiled := bytes.Clone(whole)
	at := bytes.Index(spoiled, []byte("app.py")) + len("app.py")
	for i := range 8 {
		spoiled[at+i] ^= 0xff
	}
	strange := bytes.Clone(whole) // compressed in a way that nobody knows, as both of its headers say
	strange[bytes.Index(strange, []byte("PK\x03\x04"))+8] = 93
	strange[bytes.Index(strange, []byte("PK\x01\x02"))+10] = 93
	for name, c := range map[string]struct {
		archive []byte
		says    string
	}{
		"spoiled data":           {spoiled, `"app.py" of mine.zip`},
		"an unknown compression": {strange, "pack it anew"},
		"a file as a folder":     {pack(t, file{"a", "x", 0}, file{"a/b", "y", 0}), `"a/b" of mine.zip`},
		"a folder as a file":     {pack(t, file{"a/b", "y", 0}, file{"a", "x", 0}), "a file and a folder of one name"},
		"a long name":            {pack(t, file{strings.Repeat("a", 300), "x", 0}), "too long"},
	} {
		dir := filepath.Join(t.TempDir(), "in")
		_, err := code.Place(dir, code.Source{Zip: c.archive, Name: "mine.zip"}, code.Limits{})
		if !errors.Is(err, code.ErrDamaged) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something is left", name)
		}
	}
}

func TestCodeThatIsNotThereIsAnError(t *testing.T) {
	for _, s := range []code.Source{{}, {Zip: pack(t)}, {Folder: "/no/such"}, {File: "/no/such.zip"},
		{Zip: []byte("no zip")}, {Folder: "/etc/hostname"}} {
		if _, err := code.Place(filepath.Join(t.TempDir(), "in"), s, code.Limits{}); !errors.Is(err, code.ErrNoCode) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// FuzzPlace checks that no archive puts anything outside of its folder, or leaves something behind that it was refused
// for.
func FuzzPlace(f *testing.F) {
	f.Add(pack(f, file{"bootstrap", "#!/bin/sh\n", 0o755}, file{"lib/a", "a", 0}))
	f.Add(pack(f, file{"../out", "evil", 0}))
	f.Add(pack(f, file{"link", "/etc", fs.ModeSymlink | 0o777}))
	f.Add(pack(f, file{"a", "x", 0}, file{"a/b", "y", 0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		top := t.TempDir()
		_, err := code.Place(filepath.Join(top, "in"), code.Source{Zip: data}, code.Limits{Bytes: 1 << 16, Files: 50})
		entries, e := os.ReadDir(top)
		if e != nil {
			t.Fatal(e)
		}
		if err != nil && len(entries) > 0 || err == nil && (len(entries) != 1 || entries[0].Name() != "in") {
			t.Fatalf("%v: %v", err, entries)
		}
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !d.Type().IsRegular() {
				t.Errorf("%s is a %v", path, d.Type())
			}
			return err
		})
	})
}
