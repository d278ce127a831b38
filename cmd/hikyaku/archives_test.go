package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// TestTheCheckOfADataFolderNamesAlteredArchives alters one of two archives of functions in a data_dir.
func TestTheCheckOfADataFolderNamesAlteredArchives(t *testing.T) {
	dir := t.TempDir()
	j, err := file.Open(t.Context(), file.Options{Dir: journalDir(dir)})
	if err == nil {
		err = errors.Join(j.Close(), os.MkdirAll(filepath.Join(functionsDir(dir), "code"), 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	keep := func(name, content string) string {
		sum := sha256.Sum256([]byte(name))
		path := filepath.Join(functionsDir(dir), "code", hex.EncodeToString(sum[:])+".zip")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keep("sound", "sound")
	altered := keep("once", "once")
	var out bytes.Buffer
	if err := checkJournal(t.Context(), dir, &out); err != nil ||
		!strings.Contains(out.String(), "Archives of functions: 2, 0 of them damaged.\n") {
		t.Errorf("%v, %s", err, &out)
	}
	keep("once", "now")
	out.Reset()
	if err := checkJournal(t.Context(), dir, &out); err == nil || !strings.Contains(err.Error(), "1 damaged archive") ||
		!strings.Contains(out.String(), altered+" has the checksum") {
		t.Errorf("%v, %s", err, &out)
	}
}

// TestTheListOfFunctionsTellsOfAlteredCode prints what the door says.
func TestTheListOfFunctionsTellsOfAlteredCode(t *testing.T) {
	var out bytes.Buffer
	err := listFunctions(&out, []lambdadoor.FunctionAnswer{{Name: "f", Version: "1", Damage: "its code is gone"}})
	if err != nil || !strings.Contains(out.String(), "f:1: its code is gone.\n") {
		t.Errorf("%v, %s", err, &out)
	}
}
