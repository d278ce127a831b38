// Package loader says how a function's runtime is started: with which program, arguments and environment. Real runtime
// clients that a function brings along are used; for Node.js and Python there are small ones of our own, in case it
// brings none.
package loader

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed node.js python.py
var files embed.FS

// ErrMissing is wrapped by errors about what a runtime needs and this machine or the function's code does not have.
var ErrMissing = errors.New("the runtime cannot be started")

// Want is what is to be started.
type Want struct {
	Runtime  string   // nodejs20.x, python3.11, java17, provided.al2023, go1.x, command, …
	Command  []string // for command
	Handler  string
	Dir      string   // of the code
	Layers   []string // folders, later ones before earlier ones as the provider has it
	MemoryMB int
	Options  string // the function's variable JAVA_TOOL_OPTIONS: what it says comes before our defaults
	Temp     string // the instance's own folder for temporary files
	Loaders  string // the folder that Write wrote to
	// Interpreter is what Interpreter found; "": it is asked.
	Interpreter string
}

// Start is a program.
type Start struct {
	Path string
	Args []string // with the program's name first
	Env  []string // what the runtime's environment has beside the function's
}

// Write writes our loaders into a folder.
func Write(dir string) error {
	for _, name := range []string{"node.js", "python.py"} {
		text, err := files.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("cannot write the loader of a runtime: %w", err)
		}
	}
	return nil
}

// Family is the part of a runtime's name that says which program it needs: nodejs, python, java, provided, go or
// command; "" for one that is not known.
func Family(runtime string) string {
	switch name := strings.ToLower(runtime); {
	case name == "command", name == "nodejs", name == "python", name == "java", name == "provided", name == "go":
		return name
	case name == "provided.al2", name == "provided.al2023":
		return "provided"
	case name == "go1.x":
		return "go"
	default:
		for _, f := range []string{"nodejs", "python", "java"} {
			if rest, ok := strings.CutPrefix(name, f); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
				return f
			}
		}
	}
	return ""
}

// Families are those that Family knows.
func Families() []string { return []string{"provided", "go", "java", "nodejs", "python", "command"} }

// Find says how to start a runtime. An error wraps ErrMissing and says what to do.
func Find(w Want) (Start, error) {
	if w.Interpreter == "" {
		var err error
		if w.Interpreter, err = Interpreter(w.Runtime, w.Dir); err != nil {
			return Start{}, err
		}
	}
	switch Family(w.Runtime) {
	case "provided", "go":
		return bootstrap(w)
	case "command":
		return command(w)
	case "nodejs":
		return node(w), nil
	case "python":
		return python(w), nil
	case "java":
		return java(w)
	}
	return Start{}, fmt.Errorf("%w: there is no runtime %q; there are %s", ErrMissing, w.Runtime,
		strings.Join(Families(), ", "))
}

// bootstrap is a program of the function's own: bootstrap, or for go a program with the handler's name.
func bootstrap(w Want) (Start, error) {
	var tried []string
	places := []string{filepath.Join(w.Dir, "bootstrap")}
	if Family(w.Runtime) == "go" && w.Handler != "" {
		places = append(places, filepath.Join(w.Dir, w.Handler))
	}
	for _, l := range w.Layers {
		places = append(places, filepath.Join(l, "bootstrap"))
	}
	for _, p := range places {
		info, err := os.Stat(p)
		switch {
		case err != nil || info.IsDir():
			tried = append(tried, p)
		case info.Mode()&0o111 == 0:
			return Start{}, fmt.Errorf("%w: %s may not be executed: set its mode to 755 before it is packed",
				ErrMissing, p)
		default:
			return Start{Path: p, Args: []string{p}}, nil
		}
	}
	return Start{}, fmt.Errorf("%w: a function of runtime %s has a program named bootstrap; there is none at %s: put "+
		"it at the top of its code, not into a folder there", ErrMissing, w.Runtime, strings.Join(tried, " nor at "))
}

func command(w Want) (Start, error) {
	if len(w.Command) == 0 {
		return Start{}, fmt.Errorf("%w: a function of runtime command needs a command", ErrMissing)
	}
	path := w.Command[0]
	if strings.ContainsRune(path, filepath.Separator) && !filepath.IsAbs(path) {
		path = filepath.Join(w.Dir, path)
	}
	found, err := look(path)
	if err != nil {
		return Start{}, err
	}
	return Start{Path: found, Args: slices.Concat([]string{found}, w.Command[1:])}, nil
}

func node(w Want) Start {
	s := Start{Path: w.Interpreter, Args: []string{w.Interpreter}}
	if w.MemoryMB > 0 {
		s.Args = append(s.Args, "--max-old-space-size="+strconv.Itoa(max(w.MemoryMB*9/10, 16)))
	}
	program := filepath.Join(w.Loaders, "node.js")
	for _, name := range []string{"index.mjs", "index.js"} { // since version 3 of the client, and before
		if client := filepath.Join(w.Dir, "node_modules", "aws-lambda-ric", "bin", name); exists(client) {
			program = client
			break
		}
	}
	s.Args = append(s.Args, program, w.Handler)
	s.Env = append(s.Env, list("NODE_PATH", w.Dir, w.Layers, "node_modules",
		"nodejs/node"+major(w.Runtime)+"/node_modules", "nodejs/node_modules"))
	return s
}

func python(w Want) Start {
	s := Start{Path: w.Interpreter, Args: []string{w.Interpreter}}
	if exists(filepath.Join(w.Dir, "awslambdaric", "__main__.py")) {
		s.Args = append(s.Args, "-m", "awslambdaric", w.Handler)
	} else {
		s.Args = append(s.Args, filepath.Join(w.Loaders, "python.py"), w.Handler)
	}
	// Nothing is written beside a function's own files, as on the provider's read-only ones. A folder of its own for
	// compiled files would be Python's only one, so that it had to compile its whole library for it first.
	s.Env = append(s.Env, list("PYTHONPATH", w.Dir, w.Layers, ".", "python",
		"python/lib/"+strings.ToLower(w.Runtime)+"/site-packages"), "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1")
	return s
}

// major is the version in the name of a Node.js runtime: 20 of nodejs20.x; "" when there is none.
func major(runtime string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(runtime), "nodejs"), ".")
	return number
}

// list is an environment variable with the function's own folder and those of its layers, as far as they are there.
func list(name, dir string, layers []string, own string, inLayers ...string) string {
	var all []string
	if p := filepath.Join(dir, own); exists(p) {
		all = append(all, p)
	}
	for _, l := range layers {
		for _, in := range inLayers {
			if p := filepath.Join(l, in); exists(p) {
				all = append(all, p)
			}
		}
	}
	return name + "=" + strings.Join(all, string(os.PathListSeparator))
}

func look(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %s is not on this machine's PATH: install it, or let the function bring its own "+
			"runtime (provided, with a program named bootstrap)", ErrMissing, name)
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
