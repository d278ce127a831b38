package replica

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
)

// folder is where a node keeps its copy of the log: the log itself, and which replica it is. A log that comes from
// another node is made in "coming", is whole in "ready", and takes the place of the old one.
type folder struct {
	dir   string
	o     file.Options // but for Dir
	began bool         // there has been a log in it: others may count on what was there
}

const (
	logName    = "log"
	comingName = "coming"
	readyName  = "ready"
	idName     = "replica"
	spoolName  = "spool-*"
)

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) open(ctx context.Context, name string) (journal.Journal, error) {
	o := f.o
	o.Dir = f.path(name)
	return file.Open(ctx, o)
}

// Open implements raft.Local.
func (f folder) Open(ctx context.Context) (journal.Journal, error) {
	left, err := filepath.Glob(f.path(spoolName))
	if err != nil {
		return nil, err
	}
	for _, name := range append(left, f.path(comingName)) { // they may be as large as the log
		if err := os.RemoveAll(name); err != nil {
			return nil, err
		}
	}
	return f.openLog(ctx)
}

func (f folder) openLog(ctx context.Context) (journal.Journal, error) {
	if err := f.finish(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(f.path(logName)); f.began && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, and other nodes count on what was in it: remove %s, so that this node "+
			"comes back with a new copy of the log", f.path(logName), f.dir)
	}
	j, err := f.open(ctx, logName)
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		err = fmt.Errorf("this node's copy of the log is damaged; do not repair it, since other nodes count on what "+
			"was in it: remove %s, so that this node comes back with a new copy: %w", f.dir, err)
	}
	return j, err
}

// finish puts a log that is ready in its place, after a crash had come in between.
func (f folder) finish() error {
	if _, err := os.Stat(f.path(readyName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := os.RemoveAll(f.path(logName)); err != nil {
		return err
	}
	if err := os.Rename(f.path(readyName), f.path(logName)); err != nil {
		return err
	}
	return durable.SyncDir(f.dir)
}

// Fresh implements raft.Local.
func (f folder) Fresh(ctx context.Context) (journal.Journal, raft.Replace, error) {
	if err := os.RemoveAll(f.path(comingName)); err != nil {
		return nil, nil, err
	}
	j, err := f.open(ctx, comingName)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(f.path(comingName)))
	}
	return coming{j, f.path(comingName)}, func(ctx context.Context) (journal.Journal, error) {
		if err := j.Close(); err != nil {
			return nil, err
		}
		if err := os.Rename(f.path(comingName), f.path(readyName)); err != nil {
			return nil, err
		}
		if err := durable.SyncDir(f.dir); err != nil {
			return nil, err
		}
		return f.openLog(ctx)
	}, nil
}

// Spool implements raft.Local. It is a file; Open removes one that a crash has left.
func (f folder) Spool() (raft.Spool, error) {
	w, err := os.CreateTemp(f.dir, spoolName)
	if err != nil {
		return nil, err
	}
	return spool{w}, nil
}

type spool struct{ *os.File }

// Close closes the file and removes it.
func (s spool) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }

// coming is a log that comes from another node. When it is closed and has not taken the place of the old one, it is
// removed: it may take the room that the old one needs.
type coming struct {
	journal.Journal
	dir string
}

// Close implements journal.Journal.
func (c coming) Close() error { return errors.Join(c.Journal.Close(), os.RemoveAll(c.dir)) }

// A folder says which replica it is of in one line: its id, whether there has been a log, and the CRC-32C of both. A
// flipped bit in the id would make it a replica that nobody knows.
const (
	beganWord = "began"
	noneWord  = "none"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func idLine(id uint64, began bool) []byte {
	word := noneWord
	if began {
		word = beganWord
	}
	text := fmt.Sprintf("%016x %s", id, word)
	return fmt.Appendf(nil, "%s %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// id is which replica the folder is of, and whether there has been a log in it; 0: none yet.
func (f folder) id() (id uint64, began bool, err error) {
	b, err := os.ReadFile(f.path(idName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	digits, rest, _ := strings.Cut(string(b), " ")
	began = strings.HasPrefix(rest, beganWord)
	id, err = strconv.ParseUint(digits, 16, 64)
	if err != nil || id == 0 || !bytes.Equal(b, idLine(id, began)) {
		return 0, false, fmt.Errorf("%s, which says which replica of the log this is, is damaged: %q; remove %s, so that "+
			"this node comes back with a new copy of the log", f.path(idName), b, f.dir)
	}
	return id, began, nil
}

// setID makes the folder that of a replica, durably.
func (f folder) setID(id uint64, began bool) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(f.path(idName), idLine(id, began))
}

// Ids of replicas begin with a sum of the node's name. A node that has lost its disk comes back as another replica of
// the same name: what the old one had promised it cannot know.

// firstID is the id of a node's replica when the log is new.
func firstID(node string) uint64 {
	return uint64(crc32.ChecksumIEEE([]byte(node)))<<32 | 1
}

// otherID is an id of a replica in the place of one that is lost.
func otherID(node string) uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it cannot fail
	return firstID(node)&^0xffffffff | uint64(binary.LittleEndian.Uint32(b[:])|2)
}

// isOf tells whether an id is of a node.
func isOf(id uint64, node string) bool { return id>>32 == firstID(node)>>32 }

// has tells whether something is in the folder.
func (f folder) has(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}
