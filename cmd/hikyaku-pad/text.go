package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/pace"
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

// convert makes a macro of one in another program's script.
func convert(args []string) error {
	f := newFlags("convert")
	var c command.Convert
	f.StringVar(&c.From, "from", "gpc", "the `FORM` of the script: gpc or gimx")
	f.StringVar(&c.Name, "combo", "", "the `NAME` of the combo; it may be left out if there is one")
	f.Func("map", "what a key of GIMX is on the pad, `KEY=INPUT`", func(part string) error {
		c.Map = append(c.Map, part)
		return nil
	})
	f.StringVar(&f.rate, "rate", pace.NTSC().String(), "frames a second, `RATE`")
	files, err := f.someFiles(args)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return usageError{errors.New("convert needs one FILE")}
	}
	if c.Rate, err = command.ParseRate(f.rate); err != nil {
		return usageError{fmt.Errorf("--rate: %w", err)}
	}
	script, err := command.ReadFile(files[0], os.Stdin)
	if err != nil {
		return err
	}
	text, err := c.Run(files[0], script)
	switch {
	case errors.Is(err, command.ErrForm):
		return usageError{fmt.Errorf("--from: %w", err)}
	case errors.Is(err, command.ErrMap):
		return usageError{fmt.Errorf("--map: %w", err)}
	case err != nil:
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
