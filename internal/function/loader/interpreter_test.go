package loader_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function/loader"
)

// script makes an executable file and returns its path.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A version manager's script says which program it stands for; it is asked once, and the program is what is started.
func TestTheProgramBehindAVersionManagersScriptIsFound(t *testing.T) {
	real, path, code := t.TempDir(), t.TempDir(), t.TempDir()
	python := script(t, real, "python3.11", "x")
	named := script(t, real, "python3.12", "x")
	node := script(t, real, "node", "x")
	java := script(t, real, "home/bin/java", "x")
	script(t, path, "python3", "#!/bin/sh\necho careful >&2\necho "+python+"\n")
	script(t, path, "python3.12", "#!/bin/sh\necho "+named+"\n")
	script(t, path, "python3.9", "#!/bin/sh\necho 'python3.9: command not found' >&2\nexit 127\n")
	script(t, path, "node", "#!/bin/sh\ncat "+real+"/said\n[ \"$(pwd -P)\" = \"$(cd "+code+" && pwd -P)\" ]\n")
	if err := os.WriteFile(filepath.Join(real, "said"), []byte(node+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script(t, path, "java", "#!/bin/sh\nprintf 'Property settings:\\n    java.home = "+real+
		"/home\\n    os.name = Linux\\n' >&2\n")
	t.Setenv("PATH", path+":/usr/bin:/bin")
	for runtime, want := range map[string]string{
		"python": python, "python3": python, "python3.12": named, "python3.9": python, "nodejs20.x": node,
		"java17": java, "provided": "", "command": "",
	} {
		if got, err := loader.Interpreter(runtime, code); err != nil || got != want {
			t.Errorf("%s is run by %q (%v), want %q", runtime, got, err, want)
		}
	}
	s := find(t, loader.Want{Runtime: "python3", Handler: "a.b", Dir: code, Interpreter: named})
	if s.Path != named {
		t.Errorf("what was found is not what is started: %+v", s)
	}
}

func TestAScriptThatDoesNotTellIsUsedAsItIs(t *testing.T) {
	path := t.TempDir()
	for name, text := range map[string]string{
		"fails": "exit 1", "says nothing": "exit 0", "names what is not there": "echo /no/such/program",
		"names no whole path": "echo python3",
	} {
		t.Run(name, func(t *testing.T) {
			for _, runtime := range []string{"python3", "node", "java"} {
				script(t, path, runtime, "#!/bin/sh\n"+text+"\n")
			}
			t.Setenv("PATH", path)
			for runtime, program := range map[string]string{"python3.11": "python3", "nodejs20.x": "node",
				"java21": "java"} {
				if got, err := loader.Interpreter(runtime, path); err != nil || got != filepath.Join(path, program) {
					t.Errorf("%s is run by %q (%v)", runtime, got, err)
				}
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := loader.Interpreter("python3.11", path); !errors.Is(err, loader.ErrMissing) ||
		!strings.Contains(err.Error(), "python3 is not on this machine's PATH") {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestLayersAreFoundByTheRuntimesVersionToo(t *testing.T) {
	onPath(t, "python3", "node")
	layer := lay(t, "python/lib/python3.11/site-packages/x.py", "nodejs/node20/node_modules/x/index.js")
	for runtime, want := range map[string]string{
		"python3.11": layer + "/python:" + layer + "/python/lib/python3.11/site-packages",
		"python3.12": layer + "/python",
		"nodejs20.x": layer + "/nodejs/node20/node_modules", "nodejs18.x": "",
	} {
		s := find(t, loader.Want{Runtime: runtime, Handler: "a.b", Dir: "/no/such", Layers: []string{layer}})
		if _, value, _ := strings.Cut(s.Env[0], "="); value != want {
			t.Errorf("%s has %q, want %q", runtime, value, want)
		}
	}
}

// A version manager's shim refuses a version that the folder does not ask for, though it is installed.
func TestAnInstalledVersionIsFoundBehindAShimThatRefuses(t *testing.T) {
	root := t.TempDir()
	script(t, root, "shims/python3.77", "#!/bin/sh\nexit 127\n")
	script(t, root, "versions/3.77.1/bin/python3.77", "#!/bin/sh\n")
	t.Setenv("PATH", filepath.Join(root, "shims")+":"+os.Getenv("PATH"))
	got, err := loader.Interpreter("python3.77", t.TempDir())
	if want := filepath.Join(root, "versions/3.77.1/bin/python3.77"); err != nil || got != want {
		t.Errorf("%s, %v, not %s", got, err, want)
	}
}
