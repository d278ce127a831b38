package faultfs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

func create(t *testing.T, d *faultfs.Disk, name string, content []byte) file.File {
	t.Helper()
	f, err := d.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWhatWasSyncedSurvivesEveryPowerCut(t *testing.T) {
	for seed := range uint64(50) {
		d := faultfs.New()
		old, new := bytes.Repeat([]byte("o"), 4096), bytes.Repeat([]byte("n"), 4096)
		f := create(t, d, "dir/a", old)
		if err := errors.Join(f.Datasync(), d.SyncDir("dir")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(new[:2048], 1024); err != nil {
			t.Fatal(err)
		}
		got := d.AfterPowerCut(rand.New(rand.NewPCG(seed, 1))).Bytes("dir/a")
		if len(got) != 4096 || !bytes.Equal(got[:1024], old[:1024]) || !bytes.Equal(got[3072:], old[3072:]) {
			t.Fatalf("seed %d: synced bytes changed", seed)
		}
		for at := 1024; at < 3072; at += 512 {
			if s := got[at:][:512]; !bytes.Equal(s, old[:512]) && !bytes.Equal(s, new[:512]) {
				t.Fatalf("seed %d: the sector at %d is torn", seed, at)
			}
		}
		if _, err := f.WriteAt(old, 0); !errors.Is(err, faultfs.ErrCut) {
			t.Fatalf("a write after the cut: %v", err)
		}
	}
}

func TestPowerCutsLoseWhatWasNotSyncedInEveryWay(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(300) {
		d := faultfs.New()
		f := create(t, d, "dir/a", make([]byte, 1024))
		if err := errors.Join(f.Datasync(), d.SyncDir("dir")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(bytes.Repeat([]byte("n"), 1024), 0); err != nil {
			t.Fatal(err)
		}
		if err := d.Rename("dir/a", "dir/b"); err != nil {
			t.Fatal(err)
		}
		after := d.AfterPowerCut(rand.New(rand.NewPCG(seed, 2)))
		for _, name := range after.Names() {
			b := after.Bytes(name)
			seen[name+string(b[:1])+string(b[512:513])] = true
		}
	}
	for _, name := range []string{"dir/a", "dir/b"} {
		for _, content := range []string{"\x00\x00", "n\x00", "\x00n", "nn"} {
			if !seen[name+content] {
				t.Errorf("%s with %q was never found", name, content)
			}
		}
	}
}

func TestFullDiskTakesPartOfAWrite(t *testing.T) {
	d := faultfs.New()
	d.Limit(1000)
	f := create(t, d, "dir/a", make([]byte, 800))
	n, err := f.WriteAt(bytes.Repeat([]byte("x"), 600), 600)
	if !errors.Is(err, syscall.ENOSPC) || n != 200 {
		t.Fatalf("wrote %d: %v", n, err)
	}
	if err := f.Preallocate(2000); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("allocated beyond the limit: %v", err)
	}
	if err := d.Remove("dir/a"); err != nil {
		t.Fatal(err)
	}
	create(t, d, "dir/b", make([]byte, 1000))
}

func TestPowerFailsAtTheChangeThatWasNamed(t *testing.T) {
	d := faultfs.New()
	d.CutAfter(3)
	f := create(t, d, "dir/a", []byte("x"))
	if err := f.Datasync(); !errors.Is(err, faultfs.ErrCut) {
		t.Fatalf("the third change: %v", err)
	}
	if _, err := d.ReadDir("dir"); !errors.Is(err, faultfs.ErrCut) {
		t.Errorf("reading afterwards: %v", err)
	}
}

func TestFaultsAreAskedForBeforeEachChange(t *testing.T) {
	d := faultfs.New()
	var kinds []string
	refuse := errors.New("refused")
	d.Fault(func(op faultfs.Op) error {
		kinds = append(kinds, op.Kind)
		if op.Kind == "sync" {
			return refuse
		}
		return nil
	})
	f := create(t, d, "dir/a", []byte("x"))
	if err := f.Datasync(); !errors.Is(err, refuse) {
		t.Errorf("sync: %v", err)
	}
	if err := d.Remove("dir/a"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"create", "write", "sync", "remove"}; !slices.Equal(kinds, want) {
		t.Errorf("asked for %v, not %v", kinds, want)
	}
}

func TestKillKeepsWhatWasWritten(t *testing.T) {
	d := faultfs.New()
	create(t, d, "dir/a", []byte("written"))
	if got := d.AfterKill().Bytes("dir/a"); string(got) != "written" {
		t.Errorf("after a kill the file holds %q", got)
	}
}
