package main

import (
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

func TestAFileSystemThatDoesNotAnswerHoldsUpNoScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answer := 0, make(chan file.Volume)
		c := &volumeCollector{dir: "d", look: func(string) (file.Volume, error) {
			asked++
			return <-answer, nil
		}}
		for range 3 {
			if n := testutil.CollectAndCount(c); n != 0 {
				t.Errorf("%d values came from a file system that says nothing", n)
			}
		}
		if asked != 1 {
			t.Errorf("it was asked %d times", asked)
		}
		answer <- file.Volume{Bytes: 100, Free: 40}
		synctest.Wait()
		if n := testutil.CollectAndCount(c); n != 2 {
			t.Errorf("%d values came when it answered", n)
		}
	})
}
