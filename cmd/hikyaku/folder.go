package main

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// openToOthers says how many of the folders and files of a data_dir other accounts may get into, and names the first.
// What hikyaku makes is 0700 and 0600; what was made before, or by somebody else, stays as it is: a group may be meant
// to read it.
func openToOthers(dataDir string) (first string, n int) {
	if runtime.GOOS == "windows" { // its modes say nothing
		return "", 0
	}
	look := func(path string, info fs.FileInfo) {
		if info.Mode().Perm()&0o077 == 0 || info.Mode()&fs.ModeSymlink != 0 {
			return
		}
		if n++; n == 1 {
			first = path
		}
	}
	if info, err := os.Stat(dataDir); err == nil {
		look(dataDir, info)
	}
	journals := shardDirs(dataDir)
	if log := nodeLog(dataDir); log != "" {
		journals = append(journals, filepath.Dir(log), log)
	}
	for _, dir := range journals { // each may be on a disk of its own, by a link
		if info, err := os.Stat(dir); err == nil {
			look(dir, info)
		}
	}
	if n == 0 { // nobody gets to what is inside
		return "", 0
	}
	within := append([]string{dataDir, functionsDir(dataDir)}, journals...)
	for _, dir := range within {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // whose folder it is will tell
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if info, err := e.Info(); err == nil && !slices.Contains(journals, path) { // those were looked at
				look(path, info)
			}
		}
	}
	return first, n
}

// warnOfOpenFolder logs that other accounts of this machine may get at the messages.
func warnOfOpenFolder(log *slog.Logger, dataDir string) {
	if first, n := openToOthers(dataDir); n > 0 {
		log.Warn("other accounts of this machine may get at data_dir: messages are readable there", "first", first,
			"open", n, "hint", "chmod -R go= "+dataDir)
	}
}
