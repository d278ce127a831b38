package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
)

// check looks for mistakes in files.
func check(args []string) error {
	f := newFlags("check")
	f.meaning()
	files, err := f.someFiles(args)
	if err != nil {
		return err
	}
	if err := f.checkPlayer(); err != nil {
		return err
	}
	var all []error
	for _, name := range files {
		text, err := command.ReadFile(name, os.Stdin)
		if err == nil {
			var script *macro.Script
			if script, err = command.Compile(name, text, f.macro); err == nil {
				fmt.Printf("%s: %s\n", name, frames(script.Frames()))
			}
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

func frames(n int64) string {
	if n == 1 {
		return "1 frame"
	}
	return fmt.Sprintf("%d frames", n)
}

// format writes files in the form that all have.
func format(args []string) error {
	f := newFlags("fmt")
	how := command.Format{In: os.Stdin, Out: os.Stdout}
	for _, name := range []string{"w", "write"} {
		f.BoolVar(&how.Write, name, false, "write files instead of the standard output")
	}
	for _, name := range []string{"l", "list"} {
		f.BoolVar(&how.List, name, false, "list the files that would change; the exit status is 1 if there are any")
	}
	files, err := f.someFiles(args)
	if err != nil {
		return err
	}
	return how.Run(files)
}
