package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/durable"
)

// prune removes generations beyond those that are kept, and then the files that no generation names.
func (f *Folder) prune(numbers []int, keep int, r *Result) error {
	for keep > 0 && len(numbers) > keep {
		if err := os.Remove(f.listFile(numbers[0])); err != nil {
			return fmt.Errorf("remove generation %d: %w", numbers[0], err)
		}
		r.Removed = append(r.Removed, numbers[0])
		numbers = numbers[1:]
	}
	if err := durable.SyncDir(filepath.Join(f.dir, listsName)); err != nil { // before what they name goes
		return err
	}
	named := map[string]bool{}
	for _, n := range numbers {
		g, err := f.Generation(n)
		var damaged *ListError
		if errors.As(err, &damaged) {
			r.Unswept = damaged // it is not known what it names
			return nil
		}
		if err != nil {
			return err
		}
		for i := range g.Files {
			named[g.Files[i].SHA256] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(f.dir, objectsName))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if named[e.Name()] {
			continue
		}
		if err := os.Remove(f.object(e.Name())); err != nil {
			return fmt.Errorf("remove what no generation names: %w", err)
		}
	}
	return nil
}
