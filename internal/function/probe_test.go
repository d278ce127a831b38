package function_test

import (
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
)

// TestAStartTellsOfIsolationWhatThereIs: also where data_dir is named from the working directory.
func TestAStartTellsOfIsolationWhatThereIs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	whole, err := function.Probe(filepath.Join(dir, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	named, err := function.Probe("probe")
	if err != nil || named.String() != whole.String() || named.Full() != whole.Full() {
		t.Errorf("missing by its whole path: %q, by its name here: %q, %v", whole.String(), named.String(), err)
	}
}
