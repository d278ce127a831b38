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
		for _, c := range got[1024:3072] {
			if c != 'o' && c != 'n' {
				t.Fatalf("seed %d: a byte nobody wrote: %q", seed, c)
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

func TestASectorMayHoldWhatAnyWriteSinceTheSyncMadeOfItAndBeTornAtAnyByte(t *testing.T) {
	whole, torn := map[byte]bool{}, map[int]bool{}
	for seed := range uint64(6000) {
		d := faultfs.New()
		f := create(t, d, "dir/a", bytes.Repeat([]byte("a"), 512))
		if err := errors.Join(f.Datasync(), d.SyncDir("dir")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{"b", "c"} {
			if _, err := f.WriteAt(bytes.Repeat([]byte(c), 512), 0); err != nil {
				t.Fatal(err)
			}
		}
		got := d.AfterPowerCut(rand.New(rand.NewPCG(seed, 3))).Bytes("dir/a")
		n := 1
		for n < 512 && got[n] == got[0] {
			n++
		}
		if n == 512 {
			whole[got[0]] = true
		} else {
			torn[n] = true
		}
	}
	if len(whole) != 3 {
		t.Errorf("whole sectors of %d writes were found, not of 3", len(whole))
	}
	if len(torn) < 150 {
		t.Errorf("sectors were torn at %d places", len(torn))
	}
}

func TestNthRefusesThatOperationOnly(t *testing.T) {
	d := faultfs.New()
	f := create(t, d, "dir/a", []byte("x"))
	broken := errors.New("broken")
	d.Fault(faultfs.Nth("sync", 2, broken))
	for n, want := range []error{nil, broken, nil} {
		if err := f.Datasync(); !errors.Is(err, want) {
			t.Errorf("sync %d: %v", n+1, err)
		}
		if _, err := f.WriteAt([]byte("y"), 0); err != nil {
			t.Error(err)
		}
	}
}

func TestFlipFlipsOneBitDurably(t *testing.T) {
	d := faultfs.New()
	f := create(t, d, "dir/a", []byte{0, 0xff})
	if err := errors.Join(f.Datasync(), d.SyncDir("dir"), d.Flip("dir/a", 0, 3), d.Flip("dir/a", 1, 0)); err != nil {
		t.Fatal(err)
	}
	if got := d.AfterPowerCut(rand.New(rand.NewPCG(1, 1))).Bytes("dir/a"); !bytes.Equal(got, []byte{8, 0xfe}) {
		t.Errorf("% x", got)
	}
	for _, bad := range []int64{-1, 2} {
		if d.Flip("dir/a", bad, 0) == nil {
			t.Errorf("a bit of byte %d was flipped", bad)
		}
	}
	if d.Flip("dir/b", 0, 0) == nil {
		t.Error("a bit of a file that is not there was flipped")
	}
}
