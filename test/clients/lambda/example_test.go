package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// A queue feeds a function in each language, as examples/ says it.
func TestTheExamplesRunAsTheySay(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"python", "node", "go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(conformance.Folder(t), "here") // the example, beside what it needs
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
				t.Fatal(err)
			}
			if language == "go" {
				build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "examples/functions/go/bootstrap"), "./examples/functions/go")
				build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			run := exec.CommandContext(t.Context(), built.Binary, "-c", "examples/functions-"+language+".yaml")
			run.Dir, run.Env = folder, append(os.Environ(), "HIKYAKU_DATA=data")
			run.Stdin = strings.NewReader("Hermes\nIris\n")
			var said strings.Builder
			run.Stderr = &said
			out, err := run.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, said.String())
			}
			for _, want := range []string{"hello Hermes", "hello Iris"} {
				if strings.Count(string(out), want) != 1 {
					t.Errorf("%q is not once in\n%s\n%s", want, out, said.String())
				}
			}
		})
	}
}
