//go:build guests

package qemu

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// modules finds the files of the kernel's modules with these names below dir, and of those that they need, in the order
// in which they can be loaded.
func modules(dir string, names ...string) (order []string, err error) {
	files := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(path), ".ko"); ok {
			files[plain(name)] = path
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var add func(name string) error
	add = func(name string) error {
		path := files[plain(name)]
		if path == "" {
			return fmt.Errorf("there is no module %s below %s: remove that folder, and it is made anew", name, dir)
		}
		if slices.Contains(order, path) {
			return nil
		}
		needs, err := needsOf(path)
		if err != nil {
			return err
		}
		for _, n := range needs {
			if err := add(n); err != nil {
				return fmt.Errorf("%s needs %w", name, err)
			}
		}
		order = append(order, path)
		return nil
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// plain is a module's name: files are called with - where modules are called with _.
func plain(name string) string { return strings.ReplaceAll(name, "-", "_") }

// needsOf lists the modules that a module needs: they stand in it.
func needsOf(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("%s is no module of the kernel", path)
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	for entry := range bytes.SplitSeq(info, []byte{0}) {
		if list, ok := strings.CutPrefix(string(entry), "depends="); ok && list != "" {
			return strings.Split(list, ","), nil
		}
	}
	return nil, nil
}
