//go:build !linux

package doctor

import (
	"errors"
	"os"
)

func syncData(f *os.File) error { return f.Sync() }

// medium is not asked for on this system.
func medium(string) (Medium, bool) { return Medium{}, false }

func (m *Medium) findings(bool) []Finding { return nil }

func preloaded(string) (Finding, bool) { return Finding{}, false }

// Room is not looked at on this system.
func Room(string, func(int64) int64, int64) []Finding { return nil }

func nameless(string) (*os.File, error) { return nil, errors.ErrUnsupported }
