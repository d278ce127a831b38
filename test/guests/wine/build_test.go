//go:build guests

package wine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build fills the folder that the tree sees: the program for Windows, the same for Linux, the libraries, these tests
// and those of packages, and the examples.
func build(dir string) error {
	here, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	windows := []string{"GOOS=windows", "GOARCH=386", "CGO_ENABLED=0"}
	linux := []string{"CGO_ENABLED=0"} // the tree has another C library
	goes := func(env []string, args ...string) error {
		return command(here, env, "go", args...)
	}
	dll := func(name string, sources ...string) error {
		args := []string{"-shared", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-static-libgcc", "-s",
			"-Wl,--kill-at", "-o", filepath.Join(dir, name)}
		for _, s := range sources {
			args = append(args, filepath.Join("test/guests/wine/libraries", s))
		}
		return command(here, nil, "i686-w64-mingw32-gcc", append(args, "-ladvapi32")...)
	}
	for _, step := range []func() error{
		func() error { return dll("gcdapi.dll", "gcdapi.c") },
		func() error { return dll("ViGEmClient.dll", "vigemclient.c") },
		func() error { return board(here, dir) },
		func() error { return dll("bcryptprimitives.dll", "bcryptprimitives.c", "deletion.c") },
		func() error {
			return goes(windows, "build", "-o", filepath.Join(dir, programName), "./cmd/hikyaku-pad")
		},
		func() error {
			return goes(linux, "build", "-o", filepath.Join(dir, "hikyaku-pad"), "./cmd/hikyaku-pad")
		},
		func() error {
			return goes(linux, "test", "-c", "-vet=off", "-tags=gms_pure_go,guests", "-o",
				filepath.Join(dir, "guest.test"), "./test/guests/wine")
		},
		func() error {
			return copied(filepath.Join(here, "examples"), filepath.Join(dir, "src/examples"), ".txt")
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, p := range packages {
		to := filepath.Join(dir, "src", p.folder)
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		if err := goes(windows, "test", "-c", "-vet=off", "-o", filepath.Join(to, "package.test.exe"),
			"./"+p.folder); err != nil {
			return err
		}
		if p.without != "" {
			skip, err := leaveOut(filepath.Join(here, p.folder, p.without))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, "skip"), []byte(skip), 0o666)
			}
			if err != nil {
				return err
			}
		}
		if err := copied(filepath.Join(here, p.folder, "testdata"), filepath.Join(to, "testdata"), ""); err != nil {
			return err
		}
	}
	return nil
}

// board builds the firmware of docs/adapter.md as a program, which needs no library of the tree.
func board(here, dir string) error {
	page, err := os.ReadFile(filepath.Join(here, "docs/adapter.md"))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(page), "```c\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !closed {
		return errors.New("docs/adapter.md has no firmware")
	}
	if err := os.WriteFile(filepath.Join(dir, "firmware.c"), []byte(text), 0o666); err != nil {
		return err
	}
	return command(here, nil, "cc", "-std=gnu11", "-O2", "-static", "-I", dir, "-o", filepath.Join(dir, "board"),
		"internal/sink/gamepad/serial/testdata/board.c")
}

func command(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// copied copies the files of a folder whose names end so; of none, if there is no such folder.
func copied(from, to, ending string) error {
	if _, err := os.Stat(from); os.IsNotExist(err) {
		return nil
	}
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ending) {
			return err
		}
		rest, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rest)), 0o777); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rest), b, 0o666)
	})
}
