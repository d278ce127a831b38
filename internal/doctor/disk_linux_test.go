package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inNamespace is set in the environment of a test that runs itself where it may mount.
const inNamespace = "HIKYAKU_DOCTOR_NAMESPACE"

// memoryDisk mounts a file system in memory. Where the test may not, it runs itself in a user namespace; ok is then
// false, and it has nothing more to do.
func memoryDisk(t *testing.T) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("hikyaku-test", dir, "tmpfs", 0, "size=2m,nr_inodes=20")
	if err != nil && os.Getenv(inNamespace) != "" {
		t.Fatal(err)
	}
	if err != nil {
		self, _ := os.Executable()
		cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", self, "-test.run=^"+
			t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), inNamespace+"=1")
		if out, again := cmd.CombinedOutput(); again != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Fatalf("mount: %v; in a user namespace: %v\n%s", err, again, out)
		}
		return "", false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// find is the finding whose text has all these words.
func find(t *testing.T, found []Finding, level Level, words string) {
	t.Helper()
	if !slices.ContainsFunc(found, func(f Finding) bool {
		return f.Level == level && strings.Contains(f.What, words) && (level == OK || f.Means != "")
	}) {
		t.Errorf("nothing of %q is %s in %+v", words, level, found)
	}
}

func TestADiskInMemoryIsBadAndItsSyncsAreTooFast(t *testing.T) {
	dir, ok := memoryDisk(t)
	if !ok {
		return
	}
	found := Disk(t.Context(), filepath.Join(dir, "not", "there"), true)
	find(t, found, Bad, "tmpfs at "+dir+" is in memory")
	find(t, found, Bad, "no medium is as fast")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
	for _, f := range Disk(t.Context(), dir, false) {
		if f.Level == Bad {
			t.Errorf("who wants no durability is told %+v", f)
		}
	}
	least := func(n int64) func(int64) int64 { return func(int64) int64 { return n } }
	find(t, Room(dir, least(64<<20), 0), Bad, "2 MiB of 2 MiB are free, and the journal wants 64 MiB")
	find(t, Room(dir, least(1<<20), 1<<30), Warn, "the queues may take 1 GiB")
	find(t, Room(dir, least(1<<20), 0), OK, "2 MiB of 2 MiB are free")
	find(t, Room(dir, least(1<<20), 0), Warn, "inodes are free")
	for i := range 19 {
		if err := os.WriteFile(filepath.Join(dir, strings.Repeat("x", i+1)), nil, 0o600); err != nil {
			break
		}
	}
	find(t, Room(dir, least(1<<20), 0), Bad, "no inodes are free")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	found = Disk(t.Context(), dir, true)
	find(t, found, Bad, "mounted to be read only")
	find(t, found, Bad, "read-only file system")
}

func TestTheMountOfAFolderIsFound(t *testing.T) {
	const text = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
30 22 8:2 / /var/lib rw - xfs /dev/sda2 rw,nobarrier
31 22 0:40 / /var/lib/my\040data rw - tmpfs tmpfs rw
32 22 0:41 / /srv rw - overlay overlay rw,lowerdir=/a,volatile
33 22 0:42 / /box rw - overlay overlay rw,lowerdir=/a
34 22 0:43 / /net rw - nfs4 server:/x rw
35 30 8:3 / /var/lib rw - ext4 /dev/sda3 rw
nonsense
`
	for _, c := range []struct {
		path, mount, kind string
		level             Level
		says              string
	}{
		{"/home", "/", "ext4", OK, "ext4 at /"},
		{"/var/libx", "/", "ext4", OK, "ext4 at /"},
		{"/var/lib/a", "/var/lib", "ext4", OK, "/dev/sda3"}, // the one that is seen
		{"/var/lib/my data", "/var/lib/my data", "tmpfs", Bad, "is in memory"},
		{"/srv/a", "/srv", "overlay", Bad, "mounted with volatile"},
		{"/box", "/box", "overlay", Warn, "layer of a container"},
		{"/net/a/b", "/net", "nfs4", Warn, "another machine's"},
	} {
		m, _ := mountOf(text, c.path)
		if m.Mount != c.mount || m.Type != c.kind {
			t.Errorf("%s is in %+v", c.path, m)
		}
		find(t, m.findings(true), c.level, c.says)
	}
	m, _ := mountOf(strings.ReplaceAll(text, "35 30", "35 x"), "/var/lib")
	m.Options = append(m.Options, "nobarrier")
	find(t, m.findings(true), Bad, "is mounted with nobarrier")
	find(t, m.findings(false), Warn, "is mounted with nobarrier")
}

func TestSyncsAreJudgedByWhatTheMediumCanDo(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		m     Medium
		each  time.Duration
		level Level
	}{
		{Medium{}, time.Microsecond, Bad},
		{Medium{Volatile: &no}, time.Microsecond, Bad}, // no medium
		{Medium{}, 20 * time.Microsecond, OK},
		{Medium{Volatile: &no}, 20 * time.Microsecond, OK},
		{Medium{Volatile: &yes}, 20 * time.Microsecond, Warn},
		{Medium{Volatile: &yes}, time.Millisecond, OK},
		{Medium{}, 80 * time.Millisecond, Warn},
	} {
		if f := c.m.timing(c.each, true); f.Level != c.level {
			t.Errorf("%+v with %v: %+v", c.m, c.each, f)
		}
	}
	if f, ok := preloaded("/usr/lib/libeatmydata.so"); !ok || f.Level != Warn {
		t.Errorf("%+v", f)
	}
	if f, ok := preloaded("/usr/lib/libother.so"); ok {
		t.Errorf("%+v", f)
	}
}
