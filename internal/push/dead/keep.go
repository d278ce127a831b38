package dead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Report is the body of a message on the feedback queue, as JSON. Its attributes platform, app, token, reason and state are there for
// conditions.
type Report struct {
	Platform string    `json:"platform"`
	App      string    `json:"app"`
	Of       string    `json:"of,omitempty"` // what of the app, where it is not what the app has by default
	Token    string    `json:"token"`
	State    string    `json:"state"` // Gone or Suspect
	Reason   string    `json:"reason"`
	Status   int       `json:"status,omitempty"` // of the far end's answer
	Since    time.Time `json:"since"`            // when the device died, as far as the far end said, else when it was noticed
	Message  string    `json:"message"`          // id of the message that found it
}

// The states of a reported device.
const (
	Gone    = "gone"    // nothing is sent to it any more: its token can be deleted
	Suspect = "suspect" // it may be gone, or the sender may be wrong: the token is to be kept
)

// keep is the work on a group of marks: one commit.
func (r *Registry) keep(ctx context.Context, marks []mark) []error {
	fresh := r.fresh(marks)
	err := r.commit(ctx, fresh)
	if err == nil {
		for i := range fresh {
			if !fresh[i].Suspect {
				r.known.raise(fresh[i].key(), seconds(fresh[i].Since))
			}
		}
		if r.config.Feedback != (queue.Name{}) {
			r.told.Add(uint64(len(fresh)))
		}
	} else {
		err = fmt.Errorf("remember %d dead devices: %w", len(fresh), err)
	}
	for i := range marks {
		marks[i].done(err)
	}
	return nil
}

// fresh are the deaths that are news.
func (r *Registry) fresh(marks []mark) []*Death {
	var fresh []*Death
	seen := map[uint64]uint32{}
	for i := range marks {
		d := &marks[i].death
		key := d.key()
		if at := max(r.known.get(key), seen[key]); at >= seconds(d.Since) {
			continue
		}
		if !d.Suspect {
			seen[key] = seconds(d.Since)
		}
		fresh = append(fresh, d)
	}
	return fresh
}

func (r *Registry) commit(ctx context.Context, deaths []*Death) error {
	if len(deaths) == 0 {
		return nil
	}
	value := make([]byte, 0, entrySize*len(deaths))
	put := queue.QueuePut{To: r.config.Feedback}
	for _, d := range deaths {
		if !d.Suspect {
			value = appendEntry(value, entry{d.key(), seconds(d.Since)})
		}
		if put.To != (queue.Name{}) {
			put.Messages = append(put.Messages, r.report(d))
		}
	}
	change, take := queue.Change{}, func() {}
	if len(value) > 0 {
		change.Notes, take = r.ledger.add(value)
	}
	if len(put.Messages) > 0 {
		change.Puts = []queue.QueuePut{put}
	}
	if len(change.Notes)+len(change.Puts) == 0 { // suspects, and nobody to report them to
		return nil
	}
	if _, _, err := r.config.Store.Commit(ctx, change); err != nil {
		return err
	}
	take()
	return nil
}

// report makes the message that tells of a death.
func (r *Registry) report(d *Death) message.Message {
	state := Gone
	if d.Suspect {
		state = Suspect
	}
	body, err := json.Marshal(Report{
		Platform: r.config.Platform, App: d.App, Of: d.Of, Token: d.Token, State: state, Reason: d.Reason, Status: d.Status,
		Since: d.Since.UTC().Truncate(time.Millisecond), Message: d.Message.String(),
	})
	if err != nil { // texts and times always have a JSON form
		body = nil
	}
	m := message.Message{Body: body}
	for name, text := range map[string]string{"platform": r.config.Platform, "app": d.App, "token": d.Token, "reason": d.Reason, "state": state} {
		m.Attributes.Set(name, message.String(text))
	}
	return m
}

// load reads the notes of the room, and writes them anew where much of them is out of date.
func (r *Registry) load(ctx context.Context) error {
	r.ledger = ledger{room: r.room}
	var old []queue.Note
	total := 0
	for _, n := range r.config.Store.Notes(r.room) {
		number, err := pageNumber(n.Key)
		if err == nil {
			err = readEntries(n.Value, func(e entry) {
				total++
				if !r.forgotten(time.Unix(int64(e.at), 0)) {
					r.known.raise(e.key, e.at)
				}
			})
		}
		if err != nil {
			return fmt.Errorf("note %q is damaged: %w", n.Key, err)
		}
		old = append(old, queue.Note{Room: r.room, Key: n.Key})
		r.ledger.next = max(r.ledger.next, number+1)
		r.ledger.tail = append(r.ledger.tail, page{number, n.Value})
	}
	r.ledger.tail = slices.Clone(r.ledger.tail[max(0, len(r.ledger.tail)-mergeNotes+1):])
	if live := r.known.len(); len(old) > 0 && total > 2*live+noteEntries || len(old) > 2*mergeNotes+2*live/noteEntries {
		return r.rewrite(ctx, old)
	}
	return nil
}

// rewrite keeps what is known in as few notes as possible and then forgets the old ones. A crash in between leaves both, which say the same.
func (r *Registry) rewrite(ctx context.Context, old []queue.Note) error {
	fresh := ledger{room: r.room, next: r.ledger.next}
	var pages [][]byte
	r.known.all(func(key uint64, at uint32) {
		if len(pages) == 0 || len(pages[len(pages)-1]) == noteEntries*entrySize {
			pages = append(pages, make([]byte, 0, noteEntries*entrySize))
		}
		last := &pages[len(pages)-1]
		*last = appendEntry(*last, entry{key, at})
	})
	for _, value := range pages {
		n := queue.Note{Room: r.room, Key: pageKey(fresh.next), Value: value}
		if _, _, err := r.config.Store.Commit(ctx, queue.Change{Notes: []queue.Note{n}}); err != nil {
			return err
		}
		fresh.tail = []page{{fresh.next, value}}
		fresh.next++
	}
	for some := range slices.Chunk(old, 1000) {
		if _, _, err := r.config.Store.Commit(ctx, queue.Change{Notes: some}); err != nil {
			return err
		}
	}
	r.ledger = fresh
	return nil
}
