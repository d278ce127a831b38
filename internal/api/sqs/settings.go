package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// room is under which the door's notes are kept.
const room = "api/sqs"

// noteKey is the key of what is remembered of a queue.
func noteKey(n queue.Name) string { return "queue/" + n.String() }

// settings are what SQS can say of a queue and its definition cannot. The zero value is a queue that another door has
// made.
type settings struct {
	Created        int64  `json:"created,omitempty"`  // milliseconds since 1970
	Modified       int64  `json:"modified,omitempty"` // likewise
	Wait           int    `json:"wait,omitempty"`     // ReceiveMessageWaitTimeSeconds
	MaxMessageSize int    `json:"max_message_size,omitempty"`
	ContentDedup   bool   `json:"content_dedup,omitempty"`
	GroupDedup     bool   `json:"group_dedup,omitempty"` // DeduplicationScope messageGroup
	GroupLimit     bool   `json:"group_limit,omitempty"` // FifoThroughputLimit perMessageGroupId
	Policy         string `json:"policy,omitempty"`      // kept and shown, not obeyed: grants are
	// maxReceiveCount of a queue that is its own dead-letter queue
	OwnDead      int    `json:"own_dead,omitempty"`
	RedriveAllow string `json:"redrive_allow,omitempty"` // as it was given
	// kept and shown: bodies are as safe as the disk is
	KMSKey   string `json:"kms_key,omitempty"`
	KMSReuse int    `json:"kms_reuse,omitempty"` // KmsDataKeyReusePeriodSeconds
	// of a FIFO queue: each forgets the deduplication ids from before
	Purges int               `json:"purges,omitempty"`
	SSE    bool              `json:"managed_sse,omitempty"` // SqsManagedSseEnabled, kept and shown
	Tags   map[string]string `json:"tags,omitempty"`
}

func (s *settings) maxBytes() int {
	if s.MaxMessageSize == 0 {
		return maxMessageBytes
	}
	return s.MaxMessageSize
}

// clone is a copy to change.
func (s *settings) clone() settings {
	c := *s
	c.Tags = maps.Clone(s.Tags)
	return c
}

// view is what calls need to know of a queue or topic. It is made once for each change of the definition or the notes,
// and not changed.
type view struct {
	name    queue.Name // resolved
	id      uint32     // of the queue: one of this name that was deleted had another
	version uint64     // of the definition
	changes uint64     // of notes, when it was made
	topic   bool       // there is no queue of that name, but a topic
	fifo    bool
	def     queue.Definition
	settings
	kept   []byte  // the note of the settings; nil: there is none
	flying *flying // of the queue, whatever its definition
}

// view finds a queue, or nil and no error when there is none.
func (d *Server) view(ctx context.Context, n queue.Name) (*view, error) {
	changes := d.changes.Load() // before the note is read: a change meanwhile lets it be read again
	def, version, err := d.store.Definition(ctx, n)
	if errors.Is(err, queue.ErrNotFound) {
		d.known.Delete(n)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known, ok := d.known.Load(n)
	if ok {
		if v := known.(*view); v.version == version && v.changes == changes {
			return v, nil
		}
	}
	st, err := d.store.Stats(ctx, n) // if the queue was made anew meanwhile, the next call finds another version
	if errors.Is(err, queue.ErrNotFound) {
		d.known.Delete(n)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := &view{name: n, id: st.ID, version: version, changes: changes, fifo: isFIFO(n), def: def}
	if v.settings, v.kept, err = d.recall(ctx, n); err != nil {
		return nil, err
	}
	if ok {
		v.flying = known.(*view).flying
	} else {
		v.flying = new(flying)
	}
	d.known.Store(n, v)
	return v, nil
}

// publishable finds what messages can be sent to: the queue of that name, or else the topic.
func (d *Server) publishable(ctx context.Context, n queue.Name) (*view, error) {
	v, err := d.view(ctx, n)
	if v != nil || err != nil {
		return v, err
	}
	switch there, err := d.store.HasTopic(ctx, n); {
	case err != nil:
		return nil, err
	case !there:
		return nil, wire.QueueDoesNotExist()
	}
	return &view{name: n, topic: true, fifo: isFIFO(n)}, nil
}

// existing finds a queue.
func (d *Server) existing(ctx context.Context, n queue.Name) (*view, error) {
	v, err := d.view(ctx, n)
	if v == nil && err == nil {
		err = wire.QueueDoesNotExist()
	}
	return v, err
}

// recall reads what is remembered of a queue, and its note; nil when there is none.
func (d *Server) recall(ctx context.Context, n queue.Name) (s settings, kept []byte, err error) {
	kept, ok, err := d.store.Note(ctx, room, noteKey(n))
	if err != nil || !ok {
		return s, nil, err
	}
	if err := json.Unmarshal(kept, &s); err != nil {
		return s, nil, fmt.Errorf("the note %s of %s cannot be read: %w", noteKey(n), room, err)
	}
	return s, kept, nil
}

// keeper keeps a note while another is as it was, alone (Server.commit) or together with what it defines
// (Service.Noted).
type keeper func(ctx context.Context, is queue.NoteIs, note queue.Note) error

// commit keeps a note while another is as it was.
func (d *Server) commit(ctx context.Context, is queue.NoteIs, note queue.Note) error {
	_, _, err := d.store.Commit(ctx, queue.Change{If: []queue.NoteIs{is}, Notes: []queue.Note{note}})
	return err
}

// remember keeps what SQS can say of a queue whose note was kept. When another process was faster, the error is
// queue.ErrChanged.
func (d *Server) remember(ctx context.Context, n queue.Name, kept []byte, s *settings, keep keeper) error {
	value, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("note of queue %s: %w", n.Short(), err)
	}
	if len(value) > queue.MaxNoteBytes {
		return wire.InvalidParameter(fmt.Sprintf("The policy, the tags and the other settings of the queue take %d "+
			"bytes together, %d at most.", len(value), queue.MaxNoteBytes))
	}
	note := queue.Note{Room: room, Key: noteKey(n), Value: kept}
	is := queue.NoteIs(note)
	note.Value = value
	err = keep(ctx, is, note)
	d.changes.Add(1) // also after an error: the note may have been kept, or is another one
	return err
}

// forget removes what is remembered of a queue that was deleted, unless it was made anew meanwhile.
func (d *Server) forget(ctx context.Context, n queue.Name) error {
	for {
		kept, ok, err := d.store.Note(ctx, room, noteKey(n)) // first: a queue is made together with its note
		if err != nil || !ok {
			return err
		}
		if v, err := d.view(ctx, n); v != nil || err != nil {
			return err
		}
		note := queue.Note{Room: room, Key: noteKey(n), Value: kept}
		is := queue.NoteIs(note)
		note.Value = nil
		err = d.commit(ctx, is, note)
		d.changes.Add(1)
		if !errors.Is(err, queue.ErrChanged) {
			return err
		}
	}
}

// change lets edit change what is remembered of a queue, and keeps it. Each change makes another note, since the time
// goes on: who changes the queue in another process at that moment sees queue.ErrChanged, and begins anew. The caller
// holds d.admin.
func (d *Server) change(ctx context.Context, v *view, edit func(*settings) error, keep keeper) error {
	s := v.settings.clone()
	if err := edit(&s); err != nil {
		return err
	}
	s.Modified = max(d.now().UnixMilli(), v.Modified+1)
	return d.remember(ctx, v.name, v.kept, &s, keep)
}

// seconds of a duration of a definition.
func seconds(t time.Duration) int { return int(t / time.Second) }
