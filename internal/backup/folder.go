package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

const (
	markName    = "hikyaku-backup"
	markText    = "hikyaku backup 1\n"
	lockName    = "lock"
	objectsName = "files"
	listsName   = "generations"
	listSuffix  = ".json"
	listDigits  = 10
)

// What is wrong with a folder, for callers who say what to do.
var (
	ErrNoBackup     = errors.New("it is no folder of backups")
	ErrForeign      = errors.New("it is not empty, and no folder of backups")
	ErrNoGeneration = errors.New("there is no such generation")
)

// Folder is where backups are.
type Folder struct {
	dir  string
	hold io.Closer // nil: it is on a medium that cannot be written to
}

// Open opens a folder of backups, for this process alone (journal.ErrLocked). begin makes it where it is missing or
// empty; else that is ErrNoBackup.
func Open(dir string, begin bool) (f *Folder, err error) {
	if err := look(dir, begin); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	f = &Folder{dir: dir}
	if f.hold, err = file.Hold(dir); errors.Is(err, fs.ErrPermission) || readOnly(err) {
		if begin {
			return nil, err
		}
		return &Folder{dir: dir}, nil // nobody else can change it either
	}
	if err != nil {
		return nil, err
	}
	if begin {
		err = f.begin()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// look sees what a folder is, and changes nothing.
func look(dir string, begin bool) error {
	text, err := os.ReadFile(filepath.Join(dir, markName))
	switch {
	case err == nil && string(text) == markText:
		return nil
	case err == nil && strings.HasPrefix(string(text), "hikyaku backup "):
		return fmt.Errorf("its format is %q, and this version reads %q: %w", strings.TrimSpace(string(text)),
			strings.TrimSpace(markText), errors.ErrUnsupported)
	case err == nil:
		return ErrForeign
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !begin:
		return ErrNoBackup
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries { // of one that was ended before it had its mark
		if e.Name() != lockName && e.Name() != markName+durable.Unfinished {
			return ErrForeign
		}
	}
	return nil
}

// begin makes what the folder needs.
func (f *Folder) begin() error {
	for _, dir := range []string{objectsName, listsName} {
		if err := os.MkdirAll(filepath.Join(f.dir, dir), 0o700); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(f.dir, markName)); err == nil {
		return nil
	}
	return durable.WriteFile(filepath.Join(f.dir, markName), []byte(markText))
}

// Close lets others have the folder.
func (f *Folder) Close() error {
	if f.hold == nil {
		return nil
	}
	return f.hold.Close()
}

func (f *Folder) object(sum string) string { return filepath.Join(f.dir, objectsName, sum) }

func (f *Folder) listFile(number int) string {
	return filepath.Join(f.dir, listsName, fmt.Sprintf("%0*d%s", listDigits, number, listSuffix))
}

// Numbers are those of the generations, the oldest first.
func (f *Folder) Numbers() ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, listsName))
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), listSuffix)
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Generation reads the list of a generation, 0: of the newest.
func (f *Folder) Generation(number int) (*Generation, error) {
	if number == 0 {
		numbers, err := f.Numbers()
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			return nil, fmt.Errorf("%s has no generation: %w", f.dir, ErrNoGeneration)
		}
		number = numbers[len(numbers)-1]
	}
	g, err := readGeneration(f.listFile(number), number)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no generation %d: %w", f.dir, number, ErrNoGeneration)
	}
	return g, err
}

// readOnly tells whether a file system takes no writes.
func readOnly(err error) bool { return err != nil && errors.Is(err, errReadOnly) }
