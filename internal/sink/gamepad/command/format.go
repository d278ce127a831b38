package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/macro/gimx"
	"github.com/hikyaku/hikyaku/internal/macro/gpc"
	"github.com/hikyaku/hikyaku/pace"
)

// Format formats files.
type Format struct {
	Write bool // into the files themselves
	List  bool // only the names of those that would change

	In  io.Reader // what - is
	Out io.Writer
}

// Convert is a macro that is to be made of somebody else's script.
type Convert struct {
	From string    // the form of the script: gpc or gimx
	Name string    // of its combo or macro; empty: the only one
	Map  []string  // for gimx: what keys, buttons and axes are on the pad, as in p=lp
	Rate pace.Rate // of the frames
}

// Run returns the macro. file is what the script is called.
func (c *Convert) Run(file string, script []byte) (text []byte, err error) {
	switch c.From {
	case "gpc":
		if len(c.Map) > 0 {
			return nil, fmt.Errorf("%w: names of gpc need no map", ErrForm)
		}
		text, err = gpc.Read(script, c.Name, c.Rate)
	case "gimx":
		names, wrong := gimx.ParseNames(c.Map)
		if wrong != nil {
			return nil, wrong
		}
		text, err = gimx.Read(script, c.Name, names, c.Rate)
	default:
		return nil, fmt.Errorf("%w: %q; there are gpc and gimx", ErrForm, c.From)
	}
	return text, Mistaken(file, script, err)
}

// ErrForm is wrapped by the error about a form that cannot be read, and ErrMap by those about a map.
var (
	ErrForm = errors.New("no such form of scripts")
	ErrMap  = gimx.ErrNames
)

// ErrUnformatted is what Run returns with List when there is a file that would change.
var ErrUnformatted = errors.New("not formatted; hikyaku macro fmt -w does that")

// Run formats each file. One with mistakes stays as it is, and the others are formatted all the same.
func (f *Format) Run(names []string) error {
	var all []error
	changed := 0
	for _, name := range names {
		differs, err := f.one(name)
		if differs {
			changed++
		}
		all = append(all, err)
	}
	if f.List && changed > 0 {
		all = append(all, fmt.Errorf("%d of %d files: %w", changed, len(names), ErrUnformatted))
	}
	return errors.Join(all...)
}

func (f *Format) one(name string) (differs bool, err error) {
	text, err := ReadFile(name, f.In)
	if err != nil {
		return false, err
	}
	formatted, err := macro.Format(text)
	if err != nil {
		return false, Mistaken(name, text, err)
	}
	differs = !bytes.Equal(text, formatted)
	switch {
	case f.List && differs:
		_, err = fmt.Fprintln(f.Out, name)
	case f.Write && differs && name != "-":
		err = os.WriteFile(name, formatted, 0o644)
	case !f.List && (!f.Write || name == "-"):
		_, err = f.Out.Write(formatted)
	}
	return differs, err
}
