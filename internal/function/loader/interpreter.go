package loader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// askAtMost is how long a version manager may take to name the program that it stands for.
const askAtMost = 30 * time.Second

// Interpreter finds the program that runs functions of a runtime: "" for those that bring their own. What version
// managers put on the PATH is a script which looks for the program each time anew, and that takes longer than the
// program's own start; so it is asked once, in a folder that may say which version it wants. One that
// does not tell is used as it is. An error wraps ErrMissing.
func Interpreter(runtime, dir string) (string, error) {
	switch Family(runtime) {
	case "python":
		const usual = "python3"
		if named := strings.ToLower(runtime); named != usual { // python3.12, if there is just that
			if path, err := exec.LookPath(named); err == nil {
				if real, err := behind(path, dir, whichPython...); err == nil {
					return real, nil
				}
				if real := managed(path); real != "" {
					return real, nil
				} // a version manager knows the name, and not the program
			}
		}
		path, err := look(usual)
		if err != nil {
			return "", err
		}
		return orItself(path)(behind(path, dir, whichPython...)), nil
	case "nodejs":
		path, err := look("node")
		if err != nil {
			return "", err
		}
		return orItself(path)(behind(path, dir, "-p", "process.execPath")), nil
	case "java":
		path, err := look("java")
		if err != nil {
			return "", err
		}
		return orItself(path)(behindJava(path, dir)), nil
	}
	return "", nil
}

// managed is the newest program of a name that a version manager has installed beside its shims, also when the folder
// asks it for another one; "": none.
func managed(shim string) string {
	root, name := filepath.Dir(filepath.Dir(shim)), filepath.Base(shim)
	version := strings.TrimPrefix(name, "python")
	var all []string
	for _, installed := range []string{"versions", "installs/python"} { // pyenv; asdf and mise
		found, _ := filepath.Glob(filepath.Join(root, installed, version+"*", "bin", name)) // the pattern is right
		all = append(all, found...)
	}
	for _, path := range slices.Backward(all) {
		if real, err := program(path); err == nil {
			return real
		}
	}
	return ""
}

var whichPython = []string{"-c", "import sys; print(sys.executable)"}

// orItself takes what is behind a path, or the path when that cannot be told.
func orItself(path string) func(string, error) string {
	return func(behind string, err error) string {
		if err != nil {
			return path
		}
		return behind
	}
}

// behind is the program that a script starts, as that program itself says.
func behind(path, dir string, question ...string) (string, error) {
	if !isScript(path) {
		return path, nil
	}
	said, err := ask(path, dir, question...)
	if err != nil {
		return "", err
	}
	return program(strings.TrimSpace(said))
}

// behindJava is behind for Java, which names its home among its settings.
func behindJava(path, dir string) (string, error) {
	if !isScript(path) {
		return path, nil
	}
	said, err := ask(path, dir, "-XshowSettings:properties", "-version")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(said) {
		if name, home, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "java.home" {
			return program(filepath.Join(strings.TrimSpace(home), "bin", "java"))
		}
	}
	return "", errNoProgram
}

var errNoProgram = errors.New("no program by its whole path")

func program(path string) (string, error) {
	if info, err := os.Stat(path); !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() ||
		info.Mode()&0o111 == 0 {
		return "", errNoProgram
	}
	return path, nil
}

// ask runs a program and returns what it prints, on both ways.
func ask(path, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askAtMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if Family(filepath.Base(path)) != "java" {
		cmd.Stderr = nil // what it warns of is no answer
	}
	err := cmd.Run()
	return out.String(), err
}

// isScript tells whether a file names another program to run it.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var begin [2]byte
	if _, err := io.ReadFull(f, begin[:]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	return string(begin[:]) == "#!"
}
