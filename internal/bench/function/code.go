package function

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

//go:embed functions/golang/main.go functions/node/index.js functions/python/app.py
var functionCode embed.FS

// functionRuntime is a runtime with the code of the bench's functions.
type functionRuntime struct {
	name   string // as the report's case
	kind   string // as function.Definition has it
	folder string
	// handler is what a function is called there.
	handler func(name string) string
}

// The runtimes, as cases.
const (
	caseGo     = "go"
	caseNode   = "node"
	casePython = "python"
	caseJava   = "java"
	caseRust   = "rust"
	realClient = "+ric" // behind the provider's own client
)

func inModule(module string) func(string) string {
	return func(name string) string { return module + "." + name }
}

// gather writes and builds the functions, in every runtime that this machine has.
func (s *session) gather(ctx context.Context) error {
	bare := func(name string) string { return name }
	for _, r := range []struct {
		functionRuntime
		program, file string
	}{
		{functionRuntime{caseGo, "provided", filepath.Join(s.Temp, "go"), bare}, "go", "functions/golang/main.go"},
		{functionRuntime{casePython, "python", filepath.Join(s.Temp, "python"), inModule("app")}, "python3",
			"functions/python/app.py"},
		{functionRuntime{caseNode, "nodejs", filepath.Join(s.Temp, "node"), inModule("index")}, "node",
			"functions/node/index.js"},
	} {
		if _, err := exec.LookPath(r.program); err != nil {
			s.Report.Note(r.name + " was not measured: " + r.program + " is not on this machine's PATH")
			continue
		}
		text, err := functionCode.ReadFile(r.file)
		if err == nil {
			err = writeIn(r.folder, path.Base(r.file), text)
		}
		if err == nil && r.name == caseGo {
			err = buildGo(ctx, r.folder)
		}
		if err != nil {
			return err
		}
		s.runtimes = append(s.runtimes, &r.functionRuntime)
	}
	s.gatherClients()
	if len(s.runtimes) == 0 {
		return errors.New("no runtime is on this machine's PATH: install go, python3 or node")
	}
	return nil
}

// gatherClients adds the runtimes' own clients, as far as they are installed.
func (s *session) gatherClients() {
	if s.Clients == "" {
		s.Report.Note("java, rust and the runtimes' own clients were not measured, because no folder with them was " +
			"given")
		return
	}
	root, err := filepath.Abs(s.Clients)
	if err != nil {
		root = s.Clients
	}
	var missing []string
	for _, r := range []functionRuntime{
		{caseJava, "java17", "java", func(name string) string { return javaClass(name) + "::myHandler" }},
		{caseRust, "provided", "rust", func(name string) string { return name }},
		{caseGo + realClient, "provided", "go", func(name string) string { return name }},
		{casePython + realClient, "python", "python", inModule("app")},
		{caseNode + realClient, "nodejs", "node", inModule("index")},
	} {
		r.folder = filepath.Join(root, "code", r.folder)
		if _, err := os.Stat(r.folder); err != nil {
			missing = append(missing, r.name)
			continue
		}
		s.runtimes = append(s.runtimes, &r)
	}
	if len(missing) > 0 {
		s.Report.Note("not measured: " + strings.Join(missing, ", ") + ", which are not below " + filepath.Join(root,
			"code") + ": scripts/need-clients puts them there")
	}
}

// javaClass is the class of a function, named as the report's: wait1 is Wait1, stacktrace StackTrace.
func javaClass(name string) string {
	if name == workStackTrace {
		return "StackTrace"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func writeIn(dir, name string, text []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make a folder for a function: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		return fmt.Errorf("write a function: %w", err)
	}
	return nil
}

// buildGo builds the function in Go.
func buildGo(ctx context.Context, dir string) error {
	if err := writeIn(dir, "go.mod", []byte("module functions\n\ngo 1.21\n")); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", "bootstrap", ".")
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the function in Go: %w\n%s", err, out)
	}
	return nil
}

// definition is a function of the bench in the runtime, with a whole processor and more.
func (r *functionRuntime) definition(name string) function.Definition {
	return function.Definition{
		Name: name, Runtime: r.kind, Handler: r.handler(name), Code: code.Source{Folder: r.folder}, MemoryMB: 3538,
		Timeout: 5 * time.Minute, InitTimeout: time.Minute,
		Environment: map[string]string{},
	}
}
