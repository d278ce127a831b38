package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// scene is something that is tried out.
type scene struct {
	name string
	play func(*test)
}

// test is how a scene tells what it finds. It belongs to the scene's goroutine.
type test struct {
	Name   string   `json:"test"`
	Failed []string `json:"failed"`
	Logged []string `json:"logged"`
	Millis int64    `json:"ms"`
	after  []func()
}

// given ends a scene.
type given struct{}

func (t *test) errorf(format string, args ...any) {
	t.Failed = append(t.Failed, fmt.Sprintf(format, args...))
}
func (t *test) logf(format string, args ...any) {
	t.Logged = append(t.Logged, fmt.Sprintf(format, args...))
}

func (t *test) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	panic(given{})
}

func (t *test) check(err error) {
	if err != nil {
		t.fatalf("%v", err)
	}
}

// cleanup is called after the scene, in the order of the calls: first the devices and players go, then what waits for
// their end.
func (t *test) cleanup(f func()) { t.after = append(t.after, f) }

// The bounds of what the guest waits for. They are for what will not come any more: nothing is measured by them.
const (
	wait      = 30 * time.Second
	sceneTime = 75 * time.Second
	look      = 2 * time.Millisecond // between two looks at what can only be looked at
)

// eventually waits until something is so.
func (t *test) eventually(what string, so func() bool) {
	for until := time.Now().Add(wait); !so(); time.Sleep(look) {
		if time.Now().After(until) {
			t.fatalf("%s waited in vain until %s", wait, what)
		}
	}
}

// teller tells the host what became of the scenes.
type teller struct{ port *os.File }

func newTeller(port string) (*teller, error) {
	f, err := os.OpenFile(port, os.O_WRONLY|unix.O_NOCTTY, 0)
	return &teller{f}, err
}

func (w *teller) run(s scene) error {
	t := &test{Name: s.name}
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			switch p := recover().(type) {
			case nil, given:
			default:
				trace := make([]byte, 16<<10)
				t.errorf("panic: %v\n%s", p, trace[:runtime.Stack(trace, false)])
			}
			for _, f := range t.after {
				f()
			}
		}()
		s.play(t)
	}()
	select {
	case <-done:
	case <-time.After(sceneTime):
		all := make([]byte, 64<<10)
		all = all[:runtime.Stack(all, true)]
		// and its goroutine is left to the end of the machine
		return w.tell(&test{Name: s.name, Failed: []string{"it did not end:\n" + string(all)}})
	}
	t.Millis = time.Since(began).Milliseconds()
	return w.tell(t)
}

func (w *teller) tell(what any) error {
	b, err := json.Marshal(what)
	if err != nil {
		return err
	}
	_, err = w.port.Write(append(b, '\n'))
	return err
}

// end tells that nothing else comes, and how many scenes there were, and waits until the port has sent it.
func (w *teller) end(scenes int) error {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err
	}
	if err := w.tell(struct {
		End    string `json:"end"`
		Scenes int    `json:"scenes"`
	}{unix.ByteSliceToString(name.Release[:]), scenes}); err != nil {
		return err
	}
	return unix.IoctlSetInt(int(w.port.Fd()), unix.TCSBRK, 1)
}
