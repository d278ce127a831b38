package deployment_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// archiveOf is where the archive of code is kept.
func archiveOf(dir string, c []byte) string {
	sum := sha256.Sum256(c)
	return filepath.Join(dir, "functions", "code", hex.EncodeToString(sum[:])+".zip")
}

// alterations are what can become of a kept archive while nobody looks. Some of them unpack as if nothing were wrong.
var alterations = map[string]func(path, another string) error{
	"a flipped byte": func(path, _ string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 1
		return os.WriteFile(path, b, 0o600)
	},
	"more behind it": func(path, _ string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(b[:len(b)-2], 1, 0, 'x'), 0o600) // a comment of one letter
	},
	"cut short": func(path, _ string) error { return os.Truncate(path, 30) },
	"emptied":   func(path, _ string) error { return os.Truncate(path, 0) },
	"deleted":   func(path, _ string) error { return os.Remove(path) },
	"another's": func(path, another string) error {
		b, err := os.ReadFile(another)
		if err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o600)
	},
}

// TestCodeThatWasChangedOnTheDiskIsNamedAndDoesNotRun alters an archive while nothing runs. The next start reports the
// function and the file, the function refuses to run with what to do, all others go on, and the same code, deployed
// again, mends it, for an older version of the same code too.
func TestCodeThatWasChangedOnTheDiskIsNamedAndDoesNotRun(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	one, two := says(t, "one"), says(t, "two")
	r, _, end := open(t, dir)
	for name, c := range map[string]deployment.Code{"f": one, "g": two} {
		if _, err := r.Create(ctx, name, python, c, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Publish(ctx, "f", "", "", ""); err != nil {
		t.Fatal(err)
	}
	path := archiveOf(dir, one.Zip)
	for what, alter := range alterations {
		end()
		if err := alter(path, archiveOf(dir, two.Zip)); err != nil {
			t.Fatal(err)
		}
		reported := make(chan error, 100)
		r, _, end = open(t, dir, func(c *deployment.Config) { c.Report = func(err error) { reported <- err } })
		select {
		case err := <-reported:
			var unsound *deployment.CodeError
			if !errors.As(err, &unsound) || unsound.File != path ||
				!strings.HasPrefix(err.Error(), "function f, version ") {
				t.Errorf("%s: reported: %v", what, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing is reported", what)
		}
		want(t, invoke(t, r, "g", ""), `"two"`)
		for _, version := range []string{"", "1"} {
			if got := invoke(t, r, "f", version); !strings.Contains(got, path) ||
				!strings.Contains(got, "is not what was deployed") ||
				!strings.Contains(got, "deploy the same code again") {
				t.Errorf("%s: version %q: %s", what, version, got)
			}
		}
		f, err := r.Get("f")
		if err != nil || !strings.Contains(r.Unsound(f.Latest), path) ||
			!strings.Contains(r.Unsound(f.Published()[0]), path) {
			t.Errorf("%s: listed as %q, %v", what, r.Unsound(f.Latest), err)
		}
		if f, err = r.Update(ctx, "f", "", nil, &one); err != nil {
			t.Fatalf("%s: the same code again: %v", what, err)
		}
		want(t, invoke(t, r, "f", ""), `"one"`)
		want(t, invoke(t, r, "f", "1"), `"one"`)
		if said := r.Unsound(f.Latest); said != "" || len(reported) > 0 {
			t.Errorf("%s: after it was deployed again: %q, %d more reports", what, said, len(reported))
		}
	}
}

// TestALayerThatWasChangedOnTheDiskIsNamedAndNotUsed does the same with the archive of a layer.
func TestALayerThatWasChangedOnTheDiskIsNamedAndNotUsed(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	var layer bytes.Buffer
	w := zip.NewWriter(&layer)
	if _, err := w.Create("python/extra.py"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, _, end := open(t, dir)
	if _, err := r.PublishLayer(ctx, "more", layer.Bytes(), deployment.LayerVersion{}); err != nil {
		t.Fatal(err)
	}
	s := python
	s.Layers = []string{r.LayerARN("more", 1)}
	if _, err := r.Create(ctx, "f", s, says(t, "one"), nil); err != nil {
		t.Fatal(err)
	}
	path := archiveOf(dir, layer.Bytes())
	for _, what := range []string{"more behind it", "deleted", "another's"} {
		end()
		if err := alterations[what](path, archiveOf(dir, says(t, "one").Zip)); err != nil {
			t.Fatal(err)
		}
		r, _, end = open(t, dir)
		if got := invoke(t, r, "f", ""); !strings.Contains(got, path) ||
			!strings.Contains(got, "the layer "+s.Layers[0]+" is not what was published") {
			t.Errorf("%s: %s", what, got)
		}
		if _, err := r.PublishLayer(ctx, "again", layer.Bytes(), deployment.LayerVersion{}); err != nil {
			t.Fatal(err)
		}
		want(t, invoke(t, r, "f", ""), `"one"`)
	}
}

// TestUnpackedCodeThatWasChangedIsUnpackedAnew changes what a server that was killed has left unpacked.
func TestUnpackedCodeThatWasChangedIsUnpackedAnew(t *testing.T) {
	dir := t.TempDir()
	r, _, end := open(t, dir)
	if _, err := r.Create(t.Context(), "f", python, says(t, "one"), nil); err != nil {
		t.Fatal(err)
	}
	want(t, invoke(t, r, "f", ""), `"one"`)
	run := filepath.Join(dir, "functions", "run")
	left, err := filepath.Glob(filepath.Join(run, "code", "*", "app.py"))
	if err != nil || len(left) != 1 {
		t.Fatalf("unpacked are %q, %v", left, err)
	}
	end()
	for path, text := range map[string]string{left[0]: "def handler(event, context):\n    return 'evil'\n",
		filepath.Join(run, "function-pool"): ""} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r, _, _ = open(t, dir)
	want(t, invoke(t, r, "f", ""), `"one"`)
}
