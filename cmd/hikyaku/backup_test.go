package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestBackupsAreMadePrunedAndRestored(t *testing.T) {
	dir := t.TempDir()
	data, folder, again := filepath.Join(dir, "data"), filepath.Join(dir, "backups"), filepath.Join(dir, "again")
	run := func(want string, args ...string) {
		t.Helper()
		if r := hikyaku(t, "one\ntwo\n", nil, args...); r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Fatalf("%v: %+v", args, r)
		}
	}
	file := filepath.Join(dir, "h.yaml")
	text := "data_dir: " + data + "\nsources: { in: { type: stdin } }\n" +
		"sinks: { out: { type: queue, inputs: [in], queue: orders } }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		run("", "run", "-c", file)
		run("", "backup", folder, "-c", file)
	}
	run("2 generations removed", "backup", "prune", folder, "--keep", "1")
	run("generations    1", "backup", "check", folder)
	run("messages                        6", "restore", folder, again)
	if r := hikyaku(t, "", nil, "backup", "prune", folder); r.code != exitUsage {
		t.Errorf("without --keep: %+v", r)
	}
}

func TestABackupWithoutRoomSaysHowToMakeSome(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "backups/files/copy", Err: syscall.ENOSPC}
	var hint *hinted
	if err := hintOfBackup(full); !errors.As(err, &hint) || !strings.Contains(hint.hint, "backup prune") {
		t.Errorf("%v", err)
	}
}
