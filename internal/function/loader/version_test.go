package loader_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function/loader"
)

func TestARuntimesNameSaysWhichVersionItWants(t *testing.T) {
	for runtime, want := range map[string]string{
		"python3.12": "3.12", "python3": "", "python": "", "nodejs20.x": "20", "nodejs": "", "java17": "17",
		"java8.al2": "8", "java": "", "provided.al2023": "", "go1.x": "", "command": "",
	} {
		if got := loader.Wanted(runtime); got != want {
			t.Errorf("%s wants %q, not %q", runtime, got, want)
		}
	}
}

func TestInterpretersTellTheirVersion(t *testing.T) {
	for _, runtime := range []string{"python", "nodejs", "java"} {
		path, err := loader.Interpreter(runtime, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		flag := "--version"
		if runtime == "java" {
			flag = "-version"
		}
		said, err := exec.Command(path, flag).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		if got := loader.Version(runtime, path, t.TempDir()); got == "" || !strings.Contains(string(said), got) {
			t.Errorf("%s is %q, and says %s", path, got, said)
		}
	}
}
