package deployment_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// An archive is kept as long as a version of any function names it, and no longer.
func TestAnArchiveIsKeptAsLongAsItIsNamed(t *testing.T) {
	dir := t.TempDir()
	r, _, end := open(t, dir)
	ctx := t.Context()
	kept := func(what string, want int) {
		t.Helper()
		archives, err := os.ReadDir(filepath.Join(dir, "functions", "code"))
		if err != nil || len(archives) != want {
			t.Errorf("%s: %d archives, wanted %d (%v)", what, len(archives), want, err)
		}
	}
	good, bad := says(t, "one"), deployment.Code{Zip: []byte("no archive")}
	if _, err := r.Create(ctx, "f", python, good, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Create(ctx, "same", python, good, nil); err != nil {
		t.Fatal(err)
	}
	kept("one archive of two functions", 1)
	if _, err := r.Create(ctx, "g", python, bad, nil); err == nil {
		t.Error("it is taken")
	}
	if _, err := r.Update(ctx, "f", "", nil, &bad); err == nil {
		t.Error("it is taken")
	}
	kept("after those that were refused", 1)
	two, three := says(t, "two"), says(t, "three")
	if _, err := r.Update(ctx, "f", "", nil, &two); err != nil {
		t.Fatal(err)
	}
	kept("the other function has the first", 2)
	if _, err := r.Publish(ctx, "f", "", "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Update(ctx, "f", "", nil, &three); err != nil {
		t.Fatal(err)
	}
	kept("the version has the second", 3)
	if _, err := r.Update(ctx, "f", "", func(s *deployment.Settings) error { s.Timeout = 2 * time.Minute; return nil },
		nil); err != nil {
		t.Fatal(err)
	}
	kept("only settings have changed", 3)
	want(t, invoke(t, r, "same", ""), `"one"`)
	want(t, invoke(t, r, "f", "1"), `"two"`)
	want(t, invoke(t, r, "f", ""), `"three"`)
	if err := r.Delete(ctx, "f", "1"); err != nil {
		t.Fatal(err)
	}
	kept("without the version", 2)
	if err := r.Delete(ctx, "same", ""); err != nil {
		t.Fatal(err)
	}
	kept("without the other function", 1)
	end()
	r, _, _ = open(t, dir)
	want(t, invoke(t, r, "f", ""), `"three"`)
	if err := r.Delete(ctx, "f", ""); err != nil {
		t.Fatal(err)
	}
	kept("without any", 0)
}
