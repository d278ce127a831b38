package main

import (
	"os"
	"sync"
	"time"
)

// watchEvery is how often a file that is watched is looked at. It is read again when it has stayed the same from one
// look to the next: somebody may be writing it.
const watchEvery = time.Second

// watchFile calls changed when a file has become another one, or has other bytes, until stop is called. One that is
// not there has not changed: whoever replaces it is not done.
func watchFile(name string, every time.Duration, changed func()) (stop func()) {
	done := make(chan struct{})
	var looking sync.WaitGroup
	known, _ := os.Stat(name)
	looking.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		last := known
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now, err := os.Stat(name)
			if err != nil {
				continue
			}
			if still := sameFile(last, now); still && !sameFile(known, now) {
				known = now
				changed()
			}
			last = now
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		looking.Wait()
	})
}

// sameFile tells whether two looks at a file, of which one may be nil, saw the same.
func sameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
