package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// maxWatched bounds the folders that are watched; the others are polled.
const maxWatched = 1024

// watcher tells when something changes in a folder. A nil watcher never tells anything.
type watcher struct {
	file    *os.File // the inotify instance
	watched map[string]bool
	changed chan struct{} // holds one
	ended   chan struct{}
}

const events = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE |
	unix.IN_ONLYDIR

// newWatcher returns nil where the operating system has nothing to watch with: polling does it then.
func newWatcher() *watcher {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &watcher{
		file:    os.NewFile(uintptr(fd), "inotify"),
		watched: map[string]bool{},
		changed: make(chan struct{}, 1),
		ended:   make(chan struct{}),
	}
	go w.listen()
	return w
}

// watch adds a folder. One that cannot be watched is polled.
func (w *watcher) watch(dir string) {
	if w == nil || w.watched[dir] || len(w.watched) >= maxWatched {
		return
	}
	conn, err := w.file.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_, err = unix.InotifyAddWatch(int(fd), dir, events)
	})
	w.watched[dir] = err == nil
	if err != nil {
		delete(w.watched, dir) // perhaps it is made later
	}
}

// changes holds a value when something has changed since the last one was taken.
func (w *watcher) changes() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.changed
}

// listen does not look at what the events say: the next look around finds out.
func (w *watcher) listen() {
	defer close(w.ended)
	b := make([]byte, 16<<10)
	for {
		if _, err := w.file.Read(b); err != nil {
			return
		}
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

func (w *watcher) close() {
	if w == nil {
		return
	}
	w.file.Close() // ends listen
	<-w.ended
}
