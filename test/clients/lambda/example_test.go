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
	for _, language := range []string{"python", "node", "go", "java", "rust"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(conformance.Folder(t), "here") // the example, beside what it needs
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(folder, "examples"),
				os.DirFS(filepath.Join(root, "examples"))); err != nil {
				t.Fatal(err)
			}
			build(t, root, folder, language)
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

// build does what the example of a language says of that in its first lines, beside its copy in a folder.
func build(t *testing.T, root, folder, language string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "examples", "functions-"+language+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		command, ok := strings.CutPrefix(line, "#   ")
		if !ok || strings.Contains(command, "hikyaku -c") {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", command)
		cmd.Dir, cmd.Env = folder, os.Environ()
		switch language {
		case "go": // it is a part of our module
			cmd.Dir = root
			cmd.Args[2] = strings.Replace(command, "-o examples", "-o "+folder+"/examples", 1)
		case "rust": // its crates are compiled already
			cmd.Env = append(cmd.Env, "CARGO_TARGET_DIR="+compiled(root), "CARGO_NET_OFFLINE=true")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	if language == "rust" {
		release := filepath.Join(folder, "examples", "functions", "rust", "target", "release")
		program, err := os.ReadFile(filepath.Join(compiled(root), "release", "bootstrap"))
		if err == nil {
			err = os.MkdirAll(release, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(release, "bootstrap"), program, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// compiled is where scripts/need-clients has compiled what the function in Rust needs.
func compiled(root string) string {
	return filepath.Join(root, ".cache", "clients", "functions", "rust")
}
