//go:build !linux

package file

// watcher does nothing here: files are polled.
type watcher struct{}

func newWatcher() *watcher                { return nil }
func (*watcher) watch(string)             {}
func (*watcher) changes() <-chan struct{} { return nil }
func (*watcher) close()                   {}
