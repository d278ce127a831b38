package file

import (
	"errors"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Known tells whether this program knows the format of the journal in a folder: by its lists and the beginnings of its
// files, without a lock, whoever has it open. The error is a *journal.FormatError where another version wrote it; what
// is damaged is no concern of Known's. Where there is no journal it is nil.
func Known(dir string) error {
	var format *journal.FormatError
	if _, err := readManifests(osFS{}, dir); err != nil {
		if missing(err) || errors.As(err, &format) {
			return noneIfMissing(err)
		}
		return err
	}
	names, err := (osFS{}).ReadDir(dir)
	if err != nil {
		return noneIfMissing(err)
	}
	for _, name := range names {
		if _, ok := parseSegmentName(name); !ok {
			continue
		}
		path := filepath.Join(dir, name)
		b, err := readFirst(osFS{}, path, segmentHeaderBytes)
		if err != nil {
			if missing(err) {
				continue // a journal in use has taken it away
			}
			return err
		}
		if _, err := decodeSegmentHeader(b); errors.As(err, &format) {
			format.Where = path
			return format
		}
	}
	return nil
}

func noneIfMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}
