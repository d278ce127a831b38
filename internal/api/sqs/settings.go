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
	if v.settings, err = d.recall(ctx, n); err != nil {
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

// recall reads what is remembered of a queue.
func (d *Server) recall(ctx context.Context, n queue.Name) (s settings, err error) {
	value, ok, err := d.store.Note(ctx, room, noteKey(n))
	if err != nil || !ok {
		return s, err
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return s, fmt.Errorf("the note %s of %s cannot be read: %w", noteKey(n), room, err)
	}
	return s, nil
}

// keeper keeps notes, alone (Service.SetNotes) or together with what it defines (Service.Noted).
type keeper func(context.Context, ...queue.Note) error

// remember keeps what SQS can say of a queue.
func (d *Server) remember(ctx context.Context, n queue.Name, s *settings, keep keeper) error {
	value, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("note of queue %s: %w", n.Short(), err)
	}
	if len(value) > queue.MaxNoteBytes {
		return wire.InvalidParameter(fmt.Sprintf("The policy, the tags and the other settings of the queue take %d "+
			"bytes together, %d at most.", len(value), queue.MaxNoteBytes))
	}
	return d.note(ctx, keep, queue.Note{Room: room, Key: noteKey(n), Value: value})
}

// forget removes what is remembered of a queue.
func (d *Server) forget(ctx context.Context, n queue.Name) error {
	if _, ok, err := d.store.NoteSize(ctx, room, noteKey(n)); err != nil || !ok {
		return err
	}
	return d.note(ctx, d.store.SetNotes, queue.Note{Room: room, Key: noteKey(n)})
}

func (d *Server) note(ctx context.Context, keep keeper, notes ...queue.Note) error {
	err := keep(ctx, notes...)
	d.changes.Add(1) // also after an error: the notes may have been kept
	return err
}

// change lets edit change what is remembered of a queue, and keeps it. The caller holds d.admin.
func (d *Server) change(ctx context.Context, v *view, edit func(*settings) error, keep keeper) error {
	s := v.settings.clone()
	if err := edit(&s); err != nil {
		return err
	}
	s.Modified = d.now().UnixMilli()
	return d.remember(ctx, v.name, &s, keep)
}

// seconds of a duration of a definition.
func seconds(t time.Duration) int { return int(t / time.Second) }
