package deployment

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
)

func TestWhatStandsStillIsToldAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		s := standstill{waiting: "it waits", again: "it goes on",
			report: func(err error) { told = append(told, err.Error()) }}
		full, missing := &function.ThrottledError{Function: "f"}, errors.New("the code is missing")
		check := func(when string, want ...string) {
			t.Helper()
			if !slices.Equal(told, want) {
				t.Errorf("%s: told %q, wanted %q", when, told, want)
			}
			told = nil
		}
		invoke := func(err error) {
			s.begins()
			s.ends(err, errors.Is(err, context.Canceled))
		}
		invoke(full)
		invoke(nil)
		time.Sleep(time.Hour)
		invoke(full)
		check("there was no room for a moment")
		time.Sleep(stillFor)
		invoke(full)
		s.waits(time.Now().Add(-time.Minute), full)
		check("there was no room for long", "it waits: "+full.Error())
		for range 9 {
			time.Sleep(time.Second)
			invoke(full)
		}
		check("it was told lately")
		time.Sleep(time.Second)
		invoke(full)
		check("it was told ten seconds ago", "it waits: "+full.Error())
		invoke(nil)
		check("it works", "it goes on")
		time.Sleep(time.Hour)
		invoke(missing)
		invoke(missing)
		invoke(context.Canceled)
		check("it cannot work", "it waits: the code is missing")
		invoke(nil)
		check("it works", "it goes on")
		time.Sleep(time.Hour)
		s.begins()
		s.waits(time.Now().Add(-time.Minute), full)
		check("another of its messages is in the function")
	})
}
