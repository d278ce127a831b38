package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hikyaku/hikyaku/internal/macro"
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

// Convert makes a macro of a combo in a script of the form from, which is gpc; its name may be left out when it is the
// only one.
func Convert(name string, script []byte, from, combo string, rate pace.Rate) ([]byte, error) {
	if from != "gpc" {
		return nil, fmt.Errorf("%w: %q; there is gpc", ErrForm, from)
	}
	text, err := gpc.Read(script, combo, rate)
	return text, Mistaken(name, script, err)
}

// ErrForm is wrapped by the error about a form that cannot be read.
var ErrForm = errors.New("no such form of scripts")

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
