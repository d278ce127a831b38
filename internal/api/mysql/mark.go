package mysql

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// A mark is how far a table has taken the rows of a source: the number of the last one. A relay says the number with
// each row, and a row that was taken before is skipped, so that a relay which starts again may send rows twice and none
// is put twice. Marks are notes of the store, committed with the rows: they survive what the rows survive.
type mark struct {
	set    bool
	source uint8
	force  bool // put whatever the mark is, and set it, even lower
	id     uint64
}

// maxSource is the greatest number of a source.
const maxSource = 63

// markRoom is under which marks are noted.
const markRoom = "api/mysql/mark"

// setSource is queue_set_srcid(): what the next insert is numbered. ok is false (NULL) for a source or a mode that is
// none. The number 0 takes back what was said before.
func (s *session) setSource(source, mode, id argument) (ok bool) {
	s.door.counts.sources.Add(1)
	n := wholeNumber(source)
	if source.null || n < 0 || n > maxSource || mode.null || mode.text != "a" && mode.text != "w" {
		return false
	}
	s.mark = mark{set: true, source: uint8(n), force: mode.text == "w", id: uint64(max(wholeNumber(id), 0))}
	if s.mark.id == 0 {
		s.mark = mark{}
	}
	return true
}

// put puts the rows as one group, durably: all of them or none. What queue_set_srcid said holds for the next insert
// that succeeds and is then forgotten: whether one that failed was put after all is known when it is tried again. The
// rows are made for t's columns: when they are others by now the error is queue.ErrChanged.
func (s *session) put(ctx context.Context, t *table, rows []message.Message) error {
	if len(rows) == 0 {
		return nil
	}
	change := queue.Change{Puts: []queue.QueuePut{{To: t.name, Messages: rows, Version: t.version}}}
	m := s.mark
	if !m.set {
		_, _, err := s.door.store.Commit(ctx, change)
		return err
	}
	s.door.naming.RLock()
	defer s.door.naming.RUnlock()
	key := markKey(s.door.store.Resolve(t.name), int(m.source))
	defer s.door.marks.lock(key)()
	have, ok, err := s.door.store.Note(ctx, markRoom, key)
	if err != nil {
		return err
	}
	if !ok || m.force || len(have) != 8 ||
		binary.BigEndian.Uint64(have) < m.id {
		change.Notes = []queue.Note{{Room: markRoom, Key: key, Value: binary.BigEndian.AppendUint64(nil, m.id)}}
		if _, _, err := s.door.store.Commit(ctx, change); err != nil {
			return err
		}
	} // else they were taken before
	s.mark = mark{}
	return nil
}

func markKey(n queue.Name, source int) string { return n.String() + "/" + strconv.Itoa(source) }

// marksOf are the keys under which the marks of a table are noted.
func (d *Server) marksOf(ctx context.Context, n queue.Name) ([]string, error) {
	return d.store.NoteKeys(ctx, markRoom, n.String()+"/")
}

// forgetMarks forgets how far the table has taken the rows of every source: it was dropped, or is new.
func (d *Server) forgetMarks(ctx context.Context, n queue.Name) error {
	keys, err := d.marksOf(ctx, n)
	if err != nil || len(keys) == 0 {
		return err
	}
	notes := make([]queue.Note, len(keys))
	for i, key := range keys {
		notes[i] = queue.Note{Room: markRoom, Key: key}
	}
	return d.store.SetNotes(ctx, notes...)
}

// copyMarks notes the marks of a table under the name that it will get.
func (d *Server) copyMarks(ctx context.Context, from, to queue.Name) error {
	keys, err := d.marksOf(ctx, from)
	if err != nil {
		return err
	}
	var notes []queue.Note
	for _, key := range keys {
		value, ok, err := d.store.Note(ctx, markRoom, key)
		if err != nil {
			return err
		}
		if ok {
			source := strings.TrimPrefix(key, from.String())
			notes = append(notes, queue.Note{Room: markRoom, Key: to.String() + source, Value: value})
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return d.store.SetNotes(ctx, notes...)
}

// keyed is a lock for each key.
type keyed struct {
	mu   sync.Mutex
	keys map[string]*keyLock
}

type keyLock struct {
	mu   sync.Mutex
	used int
}

// lock locks the key and returns what unlocks it.
func (k *keyed) lock(key string) (unlock func()) {
	k.mu.Lock()
	l := k.keys[key]
	if l == nil {
		if k.keys == nil {
			k.keys = map[string]*keyLock{}
		}
		l = &keyLock{}
		k.keys[key] = l
	}
	l.used++
	k.mu.Unlock()
	l.mu.Lock()
	return func() {
		l.mu.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.used--; l.used == 0 {
			delete(k.keys, key)
		}
	}
}
