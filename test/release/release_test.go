package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const root = "../.."

// TestAReleaseIsUnpackedAndRuns makes the archive of this system as make release does, but with cgo where the other
// tests have it, and with the paths of this machine in the program: so all that is compiled was compiled for them.
func TestAReleaseIsUnpackedAndRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program for an archive")
	}
	if runtime.GOOS != "linux" {
		t.Skip("releases are made on Linux")
	}
	made := release(t, t.TempDir())
	archive := made[".tar.gz"]
	name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
	files := unpack(t, archive)
	said, err := exec.CommandContext(t.Context(), filepath.Join(files, name, "hikyaku"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "hikyaku ") || !strings.Contains(string(said),
		runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("hikyaku version of the archive: %v\n%s", err, said)
	}
	for file, has := range map[string]string{
		"LICENSE": "Apache License", "README.md": "# hikyaku", "README.ja.md": "hikyaku", "CHANGELOG.md": "Unreleased",
		"docs/operations.md": "# Operations", "examples/push.yaml": "sinks:",
		"licences/github.com/dop251/goja/ftoa/LICENSE_LUCENE": "Lucent",
		"licences/go.dev/LICENSE":                             "The Go Authors",
		"licences/github.com/jackc/pgx/v5/LICENSE":            "Jack Christensen",
		"licences/github.com/go-sql-driver/mysql/LICENSE":     "Mozilla Public License",
		"licences/github.com/go-sql-driver/mysql/packets.go":  "package mysql", // that licence asks for the source
	} {
		text, err := os.ReadFile(filepath.Join(files, name, file))
		if err != nil || !strings.Contains(string(text), has) {
			t.Errorf("%s does not have %q: %v", file, has, err)
		}
	}
	withoutLicence(t, filepath.Join(files, name))
	notListed(t, filepath.Join(files, name), made[".cdx.json"])

	again := release(t, filepath.Join(t.TempDir(), "elsewhere"))
	for kind, file := range made {
		if a, b := sum(t, file), sum(t, again[kind]); a != b {
			t.Errorf("made again, %s is another file: %s and %s", file, a, b)
		}
	}
	t.Run("deb", func(t *testing.T) { installDeb(t, made[".deb"]) })
	t.Run("rpm", func(t *testing.T) { lookAtRPM(t, made[".rpm"]) })
	t.Run("unit", func(t *testing.T) { lookAtUnit(t, filepath.Join(files, name, "hikyaku")) })
}

// release makes one below a folder, and returns its files by the ends of their names.
func release(t *testing.T, out string) (files map[string]string) {
	t.Helper()
	cgo, err := exec.CommandContext(t.Context(), "go", "env", "CGO_ENABLED").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "scripts/release", runtime.GOOS+"/"+runtime.GOARCH)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "OUT="+out, "UNCOMMITTED=yes", "TRIMPATH=false",
		"CGO_ENABLED="+strings.TrimSpace(string(cgo)))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/release: %v\n%s", err, said)
	}
	sums, err := filepath.Glob(filepath.Join(out, "*", "SHA256SUMS"))
	if err != nil || len(sums) != 1 {
		t.Fatalf("the sums are %v, %v", sums, err)
	}
	lines, err := os.ReadFile(sums[0])
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for line := range strings.Lines(string(lines)) {
		want, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		file := filepath.Join(filepath.Dir(sums[0]), name)
		if got := sum(t, file); got != want {
			t.Errorf("the sum of %s is %s; SHA256SUMS has %s", file, got, want)
		}
		_, end, _ := strings.Cut(name, runtime.GOARCH)
		files[end] = file
	}
	for _, end := range []string{".tar.gz", ".cdx.json", ".deb", ".rpm"} {
		if files[end] == "" {
			t.Fatalf("there is no %s in %v", end, files)
		}
	}
	return files
}

func sum(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// unpack unpacks an archive into a folder, all of which has the same owner and time.
func unpack(t *testing.T, archive string) (dir string) {
	t.Helper()
	b, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	var first *tar.Header
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = h
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(first.ModTime) || h.Mode&0o022 != 0 {
			t.Errorf("%s is of %d:%d %q, %s, %o", h.Name, h.Uid, h.Gid, h.Uname, h.ModTime, h.Mode)
		}
		to := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+h.Name)))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(to, 0o755)
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, content, h.FileInfo().Mode())
			}
		default:
			t.Errorf("%s is neither a file nor a folder", h.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// withoutLicence tells of the modules in the program that have no folder among the licences.
func withoutLicence(t *testing.T, dir string) {
	t.Helper()
	info, err := buildinfo.ReadFile(filepath.Join(dir, "hikyaku"))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 50 {
		t.Errorf("the program says that it has %d modules", len(info.Deps))
	}
	for _, module := range info.Deps {
		there, err := os.ReadDir(filepath.Join(dir, "licences", filepath.FromSlash(module.Path)))
		if err != nil || len(there) == 0 {
			t.Errorf("there is no licence of %s: %v", module.Path, err)
		}
	}
}

// notListed tells of the modules in the program that the list beside its archive does not have, in that version, and of
// another program's list.
func notListed(t *testing.T, dir, list string) {
	t.Helper()
	program := filepath.Join(dir, "hikyaku")
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var has struct {
		BOMFormat string
		Metadata  struct {
			Timestamp  string
			Properties []struct{ Name, Value string }
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &has); err != nil || has.BOMFormat != "CycloneDX" || has.Metadata.Timestamp != "" {
		t.Fatalf("the list is %q of %q: %v", has.BOMFormat, has.Metadata.Timestamp, err)
	}
	listed := map[string]string{}
	for _, c := range has.Components {
		listed[c.Name] = c.Version
	}
	for _, module := range info.Deps {
		if listed[module.Path] != module.Version {
			t.Errorf("%s %s is listed as %q", module.Path, module.Version, listed[module.Path])
		}
	}
	for _, p := range has.Metadata.Properties {
		if p.Name == "cdx:gomod:binary:hash:SHA-256" && p.Value == sum(t, program) {
			return
		}
	}
	t.Errorf("the list is of another program: %v", has.Metadata.Properties)
}
