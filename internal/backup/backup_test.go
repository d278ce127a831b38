package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/backup"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// stand is a data_dir with one journal in use, and a folder for backups of it.
type stand struct {
	data   backup.Data
	j      *file.Journal
	folder string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	dir := t.TempDir()
	s := &stand{data: backup.Data{Dir: filepath.Join(dir, "data"), Journals: []string{"journal"},
		Once: []string{"code"}, Suffix: ".zip"}, folder: filepath.Join(dir, "backups")}
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(s.data.Dir, "journal"), SegmentBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	s.j = j
	return s
}

// put appends bodies and waits until they are durable.
func (s *stand) put(t *testing.T, n int) {
	t.Helper()
	for range n {
		done := make(chan error, 1)
		record := journal.Record{Queue: 1, Life: journal.Lasting, Body: bytes.Repeat([]byte("body "), 1000)}
		err := s.j.Append([]journal.Record{record}, func(_ journal.Position, err error, _ int) { done <- err })
		if err == nil {
			err = <-done
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// open opens the folder of backups for the time of a function.
func (s *stand) open(t *testing.T, begin bool, use func(f *backup.Folder)) {
	t.Helper()
	f, err := backup.Open(s.folder, begin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	use(f)
}

func (s *stand) take(t *testing.T, keep int) (r *backup.Result) {
	t.Helper()
	s.open(t, true, func(f *backup.Folder) {
		var err error
		if r, err = f.Take(t.Context(), s.data, backup.Options{Keep: keep}); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

func (s *stand) check(t *testing.T) (c *backup.Checked) {
	t.Helper()
	s.open(t, false, func(f *backup.Folder) {
		var err error
		if c, err = f.Check(t.Context(), 0, nil); err != nil {
			t.Fatal(err)
		}
	})
	return c
}

// objects are the names of the files with contents.
func (s *stand) objects(t *testing.T) (names []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.folder, "files", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestASecondBackupCopiesWhatIsNew(t *testing.T) {
	s := newStand(t)
	s.put(t, 200) // a megabyte: 16 segments and more
	if err := errors.Join(os.Mkdir(filepath.Join(s.data.Dir, "code"), 0o700),
		os.WriteFile(filepath.Join(s.data.Dir, "code", "a.zip"), make([]byte, 200_000), 0o600)); err != nil {
		t.Fatal(err)
	}
	first := s.take(t, 7)
	if first.Bytes < 1_200_000 {
		t.Errorf("the first backup copied %d bytes", first.Bytes)
	}
	s.put(t, 1)
	second := s.take(t, 7)
	if second.Bytes > 150_000 || second.Generation.Bytes() < first.Generation.Bytes() {
		t.Errorf("the second backup copied %d bytes of %d", second.Bytes, second.Generation.Bytes())
	}
	if c := s.check(t); c.Damaged() != 0 || c.Generations != 2 || c.Journals[0].Records != 201 {
		t.Errorf("%+v, %+v", c, c.Journals)
	}
}

func TestAFlippedByteIsFoundAndNamed(t *testing.T) {
	s := newStand(t)
	s.put(t, 40)
	r := s.take(t, 7)
	for _, e := range r.Generation.Files {
		name := filepath.Join(s.folder, "files", e.SHA256)
		was, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		now := bytes.Clone(was)
		now[len(now)/2] ^= 4
		for what, b := range map[string][]byte{"a flipped bit": now, "a shorter file": was[:len(was)-1]} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			c := s.check(t)
			if len(c.Problems) != 1 || c.Problems[0].File != name || c.Problems[0].Of[0] != e.Path {
				t.Errorf("%s in %s: %v", what, e.Path, c.Problems)
			}
			s.open(t, false, func(f *backup.Folder) {
				to := filepath.Join(t.TempDir(), "to")
				_, err := f.Restore(t.Context(), to, 0, nil)
				var problem *backup.ProblemError
				if !errors.As(err, &problem) || problem.File != name {
					t.Errorf("%s in %s: restored with %v", what, e.Path, err)
				}
				if _, err := os.Stat(filepath.Join(to, "journal")); err == nil {
					t.Error("there is a journal after a restore that failed")
				}
			})
		}
		if err := os.WriteFile(name, was, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := filepath.Join(s.folder, "generations", "0000000001.json")
	text, err := os.ReadFile(list)
	if err == nil {
		err = os.WriteFile(list, bytes.Replace(text, []byte("journal"), []byte("jaurnal"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c := s.check(t); len(c.Problems) != 1 || c.Problems[0].File != list {
		t.Errorf("a list that was changed: %v", c.Problems)
	}
}

// TestAnEndedBackupLeavesTheEarlierOnes ends a backup in the middle of each of its files.
func TestAnEndedBackupLeavesTheEarlierOnes(t *testing.T) {
	s := newStand(t)
	s.put(t, 20)
	s.take(t, 7)
	s.put(t, 60)
	ended := errors.New("ended")
	for after, more := 1, true; more; after++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		s.open(t, true, func(f *backup.Folder) {
			told := 0
			_, err := f.Take(ctx, s.data, backup.Options{Keep: 7, Progress: func(_, _ int64) {
				if told++; told == after {
					cancel(ended)
				}
			}})
			more = err != nil
		})
		cancel(nil)
		want := 1
		if !more {
			want = 2
		}
		c := s.check(t)
		if c.Damaged() != 0 || c.Generations != want {
			t.Fatalf("ended after %d pieces: %d generations, %v", after, c.Generations, c.Problems)
		}
		if len(s.objects(t)) != c.Files {
			t.Fatalf("ended after %d pieces it left files that nobody needs: %v", after, s.objects(t))
		}
	}
	if c := s.check(t); c.Files != len(s.objects(t)) {
		t.Errorf("%d files are named, and there are %v", c.Files, s.objects(t))
	}
}

func TestGenerationsBeyondThoseThatAreKeptGoWithTheirFiles(t *testing.T) {
	s := newStand(t)
	for n := range 5 {
		s.put(t, 15)
		if r := s.take(t, 2); r.Generation.Number != n+1 {
			t.Errorf("generation %d after %d", r.Generation.Number, n)
		}
	}
	s.open(t, false, func(f *backup.Folder) {
		if p, err := f.Prune(0); err != nil || len(p.Removed) != 0 || p.Unswept != nil {
			t.Errorf("nothing is to go: %+v, %v", p, err)
		}
	})
	c := s.check(t)
	if c.Generations != 2 || c.Damaged() != 0 || c.Files != len(s.objects(t)) {
		t.Errorf("%d generations, %d files of %d, %v", c.Generations, c.Files, len(s.objects(t)), c.Problems)
	}
	s.open(t, false, func(f *backup.Folder) {
		if _, err := f.Restore(t.Context(), filepath.Join(t.TempDir(), "to"), 3, nil); !errors.Is(err,
			backup.ErrNoGeneration) {
			t.Errorf("a generation that is gone: %v", err)
		}
	})
}

func TestARestoredFolderIsWhatWasThereAndForNobodyElse(t *testing.T) {
	s := newStand(t)
	s.put(t, 40)
	r := s.take(t, 7)
	to := filepath.Join(t.TempDir(), "to")
	if err := os.MkdirAll(filepath.Join(to, "restoring", "journal"), 0o700); err != nil { // of one that was killed
		t.Fatal(err)
	}
	s.open(t, false, func(f *backup.Folder) {
		if _, err := f.Restore(t.Context(), to, 0, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Restore(t.Context(), to, 0, nil); !errors.Is(err, backup.ErrNotEmpty) {
			t.Errorf("restored into a folder with something in it: %v", err)
		}
	})
	for _, dir := range []string{to, s.folder} {
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range r.Generation.Files {
		got, err := os.ReadFile(filepath.Join(to, e.Path))
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(got)) != e.Size || strings.Trim(string(got[e.Bytes:]), "\x00") != "" {
			t.Errorf("%s has %d bytes", e.Path, len(got))
		}
	}
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(to, "journal"), Report: func(err error) {
		t.Errorf("the start tells: %v", err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	n := 0
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n += len(g.Records)
	}
	if n != 40 {
		t.Errorf("%d records were restored of 40", n)
	}
}

func TestAFolderIsForTheBackupsOfOneStore(t *testing.T) {
	s, other := newStand(t), newStand(t)
	s.put(t, 1)
	other.put(t, 1)
	s.take(t, 7)
	other.folder = s.folder
	other.open(t, true, func(f *backup.Folder) {
		if _, err := f.Take(t.Context(), other.data, backup.Options{}); !errors.Is(err, backup.ErrOther) {
			t.Errorf("another store: %v", err)
		}
	})
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "photo"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Open(full, true); !errors.Is(err, backup.ErrForeign) {
		t.Errorf("a folder with something else: %v", err)
	}
	if _, err := backup.Open(t.TempDir(), false); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("an empty folder: %v", err)
	}
	s.open(t, true, func(*backup.Folder) {
		if _, err := backup.Open(s.folder, true); !errors.Is(err, journal.ErrLocked) {
			t.Errorf("two at once: %v", err)
		}
	})
}

// TestCheckpointsAreCopied is about a journal with all kinds of files.
func TestCheckpointsAreCopied(t *testing.T) {
	s := newStand(t)
	for range 3 {
		s.put(t, 3)
		err := s.j.SaveCheckpoint(t.Context(), s.j.End(), func(w io.Writer) error {
			_, err := io.WriteString(w, "state")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.take(t, 7)
	if c := s.check(t); c.Damaged() != 0 || c.Journals[0].Checkpoints != 2 {
		t.Errorf("%d checkpoints, %v", c.Journals[0].Checkpoints, c.Problems)
	}
}
