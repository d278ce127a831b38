package file_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

func TestScanAcrossACloseSaysSoAndDoesNotJustEnd(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	for n := range 60 {
		mustAppend(t, j, message(n, 1000))
	}
	var last error
	n := 0
	for _, err := range j.Scan(t.Context(), 0) {
		if n++; n == 3 {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
		last = err
	}
	if !errors.Is(last, journal.ErrClosed) {
		t.Errorf("after %d steps the scan ended with %v", n, last)
	}
}

func TestReadAcrossACloseNeverSaysThatARecordIsReleased(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	var addrs []journal.Address
	for n := range 60 {
		addrs = append(addrs, journal.Address{Position: mustAppend(t, j, message(n, 1000))})
	}
	closed := false
	err := j.Read(t.Context(), addrs, func(i int, _ journal.Record, err error) {
		if !closed {
			closed = true
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if errors.Is(err, journal.ErrReleased) {
			t.Errorf("address %d answers %v", i, err)
		}
	})
	if err != nil && !errors.Is(err, journal.ErrClosed) {
		t.Error(err)
	}
}

func TestPanicOfADoneFunctionEndsTheJournal(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	err := j.Append([]journal.Record{settle(1)},
		func(journal.Position, error, int) { panic("a mistake of the owner's") })
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); !errors.Is(err, journal.ErrFailed) ||
		!strings.Contains(err.Error(), "a mistake of the owner's") {
		t.Errorf("close: %v", err)
	}
}
