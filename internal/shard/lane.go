package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// laneNamespace is where the lanes of each shard are. No queue of anybody else is in it.
const laneNamespace = "~relay"

// reserved tells whether a name is a lane's.
func reserved(n queue.Name) bool { return n.Namespace == laneNamespace }

func errReserved(n queue.Name) error {
	return fmt.Errorf("%w: %s: the namespace %s is for messages between shards", queue.ErrBadName, n, laneNamespace)
}

// Labels of a lane: where it leads, and whether to a topic or to a queue.
const (
	labelTo = "to"
	labelAs = "as"
	asTopic = "topic or queue"
	asQueue = "queue"
)

// laneMessages bounds what waits in a lane, but for dead letters.
const laneMessages = 100_000

// laneTo is the lane that leads to a name.
func laneTo(n queue.Name, as queue.Meaning) *queue.Lane {
	sum := sha256.Sum256([]byte(n.String()))
	meaning, prefix := asQueue, "queue-"
	if as == queue.TopicBefore {
		meaning, prefix = asTopic, "topic-"
	}
	return &queue.Lane{
		Queue: queue.Name{Namespace: laneNamespace, Name: prefix + hex.EncodeToString(sum[:16])},
		Definition: queue.Definition{MaxMessages: laneMessages,
			Labels: map[string]string{labelTo: n.String(), labelAs: meaning}},
	}
}

// leadsTo is where a lane leads.
func leadsTo(d *queue.Definition) (n queue.Name, as queue.Meaning, err error) {
	n, err = queue.ParseName(d.Labels[labelTo])
	return n, d.Labels[labelAs] == asTopic, err
}

// makeLane makes a lane of a shard, if it is not there, and lets it be carried on.
func (r *Router) makeLane(ctx context.Context, shard int, lane *queue.Lane) error {
	s := r.stores[shard]
	if there, err := s.Has(ctx, lane.Queue); err != nil {
		return err
	} else if !there {
		_, err := s.Configured().CreateQueue(ctx, lane.Queue, lane.Definition)
		if err != nil && !errors.Is(err, queue.ErrExists) {
			return fmt.Errorf("make the lane to %s: %w", lane.Definition.Labels[labelTo], err)
		}
	}
	r.relay.start(shard, lane)
	return nil
}

// elsewhere tells the store of a shard whether a name is another's. The store's lock is held.
func (r *Router) elsewhere(shard int, n queue.Name, as queue.Meaning) *queue.Lane {
	if reserved(n) || r.places.makes(shard, n, as) {
		return nil
	}
	lane := laneTo(n, as)
	r.relay.start(shard, lane)
	return lane
}

// laneAttribute has what a lane itself must not heed: it has neither delays nor deduplication.
const laneAttribute = "~relay"

// wrapped is what laneAttribute says, as JSON.
type wrapped struct {
	Dedup     string    `json:"dedup,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
}

// wrap makes a message one for a lane. Its attributes are copied when they change.
func wrap(m *message.Message) {
	w := wrapped{m.Dedup, m.NotBefore}
	if w == (wrapped{}) {
		return
	}
	m.Dedup, m.NotBefore = "", time.Time{}
	text, err := json.Marshal(w)
	if err != nil { // a text and a time always have a JSON form
		return
	}
	c := m.Clone()
	c.Attributes.Set(laneAttribute, message.String(string(text)))
	*m = *c
}

// unwrap takes back what wrap did.
func unwrap(m *message.Message) error {
	v, wrappedUp := m.Attributes.Get(laneAttribute)
	if !wrappedUp {
		return nil
	}
	var w wrapped
	if err := json.Unmarshal([]byte(v.AsString()), &w); err != nil {
		return fmt.Errorf("attribute %s: %w", laneAttribute, err)
	}
	m.Attributes.Delete(laneAttribute)
	m.Dedup, m.NotBefore = w.Dedup, w.NotBefore
	return nil
}
