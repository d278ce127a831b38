package dead

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Report is the body of a message on the feedback queue, as JSON. Its attributes platform, app, token, reason and state
// are there for conditions.
type Report struct {
	Platform string `json:"platform"`
	App      string `json:"app"`
	Of       string `json:"of,omitempty"` // what of the app, where it is not what the app has by default
	Token    string `json:"token"`
	State    string `json:"state"` // Gone or Suspect
	Reason   string `json:"reason"`
	Status   int    `json:"status,omitempty"` // of the far end's answer
	// when the device died, as far as the far end said, else when it was noticed
	Since   time.Time `json:"since"`
	Message string    `json:"message"` // id of the message that found it
}

// The states of a reported device.
const (
	Gone    = "gone"    // nothing is sent to it any more: its token can be deleted
	Suspect = "suspect" // it may be gone, or the sender may be wrong: the token is to be kept
)

// group is what a group of marks comes to, in their order.
type group struct {
	now     map[uint64]entry // what the entries make of their keys
	entries []entry
	fresh   map[Cause]uint16 // causes that are not noted yet
	news    []*Death         // to be reported
	revived map[*revival]int
}

// keep is the work on a group of marks: one commit.
func (r *Registry) keep(ctx context.Context, marks []mark) []error {
	g := r.group(marks)
	err := r.commit(ctx, g)
	if err == nil {
		for c, number := range g.fresh {
			r.causes.set(number, c)
		}
		for _, e := range g.entries {
			r.known.put(e)
		}
		for v, n := range g.revived {
			v.n = n
		}
		if r.config.Feedback != (queue.Name{}) {
			r.told.Add(uint64(len(g.news)))
		}
	} else {
		err = fmt.Errorf("note %d changes of dead devices: %w", max(len(g.entries), len(g.news)), err)
	}
	for i := range marks {
		marks[i].done(err)
	}
	return nil
}

func (r *Registry) group(marks []mark) *group {
	g := &group{now: map[uint64]entry{}, fresh: map[Cause]uint16{}, revived: map[*revival]int{}}
	for i := range marks {
		if v := marks[i].revive; v != nil {
			r.groupRevival(g, v)
		} else {
			r.groupDeath(g, &marks[i].death)
		}
	}
	return g
}

// after is what is known of a key after the entries of the group so far.
func (r *Registry) after(g *group, key uint64) entry {
	if e, changed := g.now[key]; changed {
		return e
	}
	return r.known.get(key)
}

// groupDeath takes a death into the group if it is news.
func (r *Registry) groupDeath(g *group, d *Death) {
	e := entry{key: d.key(), at: seconds(d.Since)}
	if r.after(g, e.key).at >= e.at {
		return
	}
	g.news = append(g.news, d)
	if d.Suspect {
		return
	}
	number, cause, fresh := r.causes.number(Cause{App: d.App, Of: d.Of, Reason: d.Reason, Status: d.Status}, g.fresh)
	if fresh {
		g.fresh[cause] = number
	}
	e.what = number
	g.now[e.key] = e
	g.entries = append(g.entries, e)
}

func (r *Registry) groupRevival(g *group, v *revival) {
	for _, key := range v.keys {
		if e := r.after(g, key); e.at != 0 && v.match(e) {
			g.now[key] = entry{key: key}
			g.entries = append(g.entries, entry{key: key})
			g.revived[v]++
		}
	}
}

func (r *Registry) commit(ctx context.Context, g *group) error {
	value := make([]byte, 0, entrySize*len(g.entries))
	for _, e := range g.entries {
		value = appendEntry(value, e)
	}
	change, take := queue.Change{Needed: true}, func() {} // else its messages could not be settled
	if len(value) > 0 {
		change.Notes, take = r.ledger.add(value)
	}
	for c, number := range g.fresh {
		n, err := causeNote(r.room, number, c)
		if err != nil {
			return err
		}
		change.Notes = append(change.Notes, n)
	}
	if put := (queue.QueuePut{To: r.config.Feedback}); put.To != (queue.Name{}) && len(g.news) > 0 {
		for _, d := range g.news {
			put.Messages = append(put.Messages, r.report(d))
		}
		change.Puts = []queue.QueuePut{put}
	}
	if len(change.Notes)+len(change.Puts) == 0 { // nothing new, or suspects, and nobody to report them to
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
		Platform: r.config.Platform, App: d.App, Of: d.Of, Token: d.Token, State: state, Reason: d.Reason,
		Status: d.Status,
		Since:  d.Since.UTC().Truncate(time.Millisecond), Message: d.Message.String(),
	})
	if err != nil { // texts and times always have a JSON form
		body = nil
	}
	m := message.Message{Body: body}
	for name, text := range map[string]string{
		"platform": r.config.Platform, "app": d.App, "token": d.Token, "reason": d.Reason, "state": state,
	} {
		m.Attributes.Set(name, message.String(text))
	}
	return m
}
