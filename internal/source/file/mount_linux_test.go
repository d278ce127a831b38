package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADiskThatIsNotMountedIsNotTakenForOneWithoutTheFiles: their places stay, and when it is there they are read on.
func TestADiskThatIsNotMountedIsNotTakenForOneWithoutTheFiles(t *testing.T) {
	f := newFolder(t)
	m := newNotes()
	point, err := os.MkdirTemp("/dev/shm", "hikyaku-file-") // another disk than that of the tests' folders
	f.check(err)
	defer os.RemoveAll(point)
	become := func(what string) {
		f.check(os.Symlink(what, f.path("link")))
		f.rename("link", "logs")
	}
	f.check(os.Mkdir(f.path("disk"), 0o700))
	become(f.path("disk"))
	c := Config{Include: []string{filepath.Join(f.path("logs"), "*.log")}}
	f.append("logs/a.log", "1\n2\n")
	r := begin(t, m, c)
	r.expect("1", "2")
	r.stop()

	become(point)
	r = begin(t, m, c)
	eventually(t, "it is told", func() bool { return len(r.Notices()) > 0 })
	if ns := r.Notices(); len(ns) != 1 || !strings.Contains(ns[0], "is not on the disk") || m.len() != 1 {
		t.Errorf("%q, and %d notes", ns, m.len())
	}
	f.append("disk/a.log", "3\n")
	become(f.path("disk"))
	r.expect("3")
	r.stop()

	become(point) // with other files: the disk has come back as another one, or they are others
	f.append("logs/b.log", "4\n")
	r = begin(t, m, c)
	r.expect("4")
	eventually(t, "the first file is forgotten", func() bool { return m.len() == 1 })
	r.stop()
}
