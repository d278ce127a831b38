package doctor

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/machine"
)

func TestAPortIsFreeOrSomebodysByName(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := os.Getpid()
	name := "process " + strconv.Itoa(own)
	p := Port{Name: "door x", Setting: "api: x: listen:", Address: l.Addr().String()}
	look := func(p Port, server int, level Level, words string) {
		t.Helper()
		find(t, []Finding{p.Look(t.Context(), server)}, level, words)
	}
	look(p, 0, Bad, name)
	look(p, own, OK, "the running hikyaku")
	p.Yields = true
	look(p, 0, Warn, name)
	look(Port{Address: u.LocalAddr().String(), UDP: true}, 0, Bad, name)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	look(p, 0, OK, "free")
	look(Port{Address: u.LocalAddr().String(), UDP: true}, 0, OK, "free")
	look(Port{Address: "127.0.0.1:0"}, 0, OK, "any port")
	look(Port{Address: "192.0.2.1:7700"}, 0, Bad, "no such address")
	look(Port{Address: "nowhere"}, 0, Bad, "missing port")
}

func TestLimitsAreComparedWithWhatIsWanted(t *testing.T) {
	for _, c := range []struct {
		f     Finding
		level Level
		words string
	}{
		{files(256, 2048), Bad, "256 files"},
		{files(1024, 2048), Warn, "2048 are wanted"},
		{files(65536, 2048), OK, "65536 files"},
		{memory(machine.Available{Bytes: 1 << 30, By: "machine"}, 2<<30), Bad, "2 GiB be used"},
		{memory(machine.Available{Bytes: 100 << 20, By: "/sys/fs/cgroup/x"}, 0), Warn, "100 MiB of memory, by " +
			"/sys/fs/cgroup/x"},
		{memory(machine.Available{Bytes: 1 << 30, By: "machine"}, 0), OK, "1 GiB of memory"},
		{threadsOf(100, "pids.max of /x"), Warn, "pids.max of /x"},
		{threadsOf(10000, "RLIMIT_NPROC"), OK, "10000 threads"},
		{backlogOf(128), Warn, "128 connections"},
		{backlogOf(4096), OK, "4096 connections"},
	} {
		find(t, []Finding{c.f}, c.level, c.words)
	}
}

func TestALowLimitOfFilesIsSeen(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	low := before
	low.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	find(t, Limits(Wants{Files: 2048}), Bad, "200 files may be open")
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	for _, f := range Limits(Wants{}) {
		if f.Level == Bad {
			t.Errorf("%+v", f)
		}
	}
}

func TestAClockThatWentBackIsSeen(t *testing.T) {
	now := time.Now()
	find(t, Clock{Begun: now}.Look(now), OK, now.UTC().Format("2006-01-02T15:"))
	find(t, Clock{Begun: now, Built: now.Add(time.Hour)}.Look(now), Bad, "was built at")
	find(t, Clock{Begun: now, Written: now.Add(time.Hour)}.Look(now), Bad, "data_dir was written at")
	find(t, Clock{Begun: now, Written: now.Add(-time.Hour)}.Look(now), OK, "T")
	find(t, []Finding{stepped(time.Minute)}, Warn, "by 1m0s")
	find(t, kept(false, 0), Warn, "nothing that synchronizes it")
	find(t, kept(true, 10*time.Second), Warn, "may be off by 10s")
	find(t, kept(true, 10*time.Millisecond), OK, "10ms")
}

func TestAFileOfSecretsIsForItsOwner(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte("a word"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, level := range map[os.FileMode]Level{0o600: OK, 0o640: OK, 0o644: Bad, 0o602: Bad} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		f, _ := Secret(name, "users")
		find(t, []Finding{f}, level, name)
		if strings.Contains(f.What+f.Means+f.Do, "a word") {
			t.Errorf("%+v shows it", f)
		}
	}
	f, _ := Secret(name+"x", "users")
	find(t, []Finding{f}, Bad, "no such file")
}

func TestAFolderIsOfItsAccount(t *testing.T) {
	dir := t.TempDir()
	find(t, []Finding{Folder(dir)}, OK, "this account's")
	find(t, []Finding{Folder(filepath.Join(dir, "x"))}, OK, "not there yet")
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	find(t, []Finding{Folder(name)}, Bad, "no folder")
	find(t, []Finding{Folder(filepath.Join(name, "x"))}, Bad, "not a directory")
	for _, c := range []struct {
		owner, own int
		level      Level
	}{{1, 1, OK}, {0, 0, OK}, {1, 2, Bad}, {1, 0, Warn}} {
		if f := owned(dir, c.owner, c.own, 0o700); f.Level != c.level {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}
