package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/durable"
)

// Pruned is what was removed.
type Pruned struct {
	Removed []int // generations
	Unswept error // why nothing was removed that no generation names; nil: it was
}

// Prune removes generations beyond those that are kept, 0: none, and then the files that no generation names.
func (f *Folder) Prune(keep int) (p Pruned, err error) {
	numbers, err := f.Numbers()
	if err != nil {
		return p, err
	}
	for keep > 0 && len(numbers) > keep {
		if err := os.Remove(f.listFile(numbers[0])); err != nil {
			return p, fmt.Errorf("remove generation %d: %w", numbers[0], err)
		}
		p.Removed = append(p.Removed, numbers[0])
		numbers = numbers[1:]
	}
	if err := durable.SyncDir(filepath.Join(f.dir, listsName)); err != nil { // before what they name goes
		return p, err
	}
	named := map[string]bool{}
	for _, n := range numbers {
		g, err := f.Generation(n)
		var damaged *ListError
		if errors.As(err, &damaged) {
			p.Unswept = damaged // it is not known what it names
			return p, nil
		}
		if err != nil {
			return p, err
		}
		for i := range g.Files {
			named[g.Files[i].SHA256] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(f.dir, objectsName))
	if err != nil {
		return p, err
	}
	for _, e := range entries {
		if named[e.Name()] {
			continue
		}
		if err := os.Remove(f.object(e.Name())); err != nil {
			return p, fmt.Errorf("remove what no generation names: %w", err)
		}
	}
	return p, nil
}
