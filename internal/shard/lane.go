package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// checkDead refuses a definition whose dead letters would go into the lanes' namespace.
func (r *Router) checkDead(d *queue.Definition) error {
	if dead, err := queue.ParseName(d.DeadLetter); err == nil && reserved(r.Resolve(dead)) {
		return errReserved(dead)
	}
	return nil
}

// Labels of a lane: where it leads, and whether to a topic or to a queue.
const (
	labelTo = "to"
	labelAs = "as"
	asTopic = "topic or queue"
	asQueue = "queue"
	labelBy = "by" // who fills it, in lanes of changes
	byWraps = "changes"
	labelID = "id" // what it is called as an origin
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
		Definition: queue.Definition{MaxMessages: laneMessages, DeadLetter: graveOf(n).String(),
			Labels: map[string]string{labelTo: n.String(), labelAs: meaning, labelID: message.NewID().String()}},
	}
}

// graveOf is the queue for what cannot arrive: that of the dead letters of the destination, if it has the usual name.
func graveOf(n queue.Name) queue.Name {
	grave := queue.Name{Namespace: n.Namespace, Name: family(n.Name) + queue.DeadEnding}
	if grave.Check() != nil { // it is too long
		grave.Name = "relay" + queue.DeadEnding
	}
	return grave
}

// laneOfChanges is the lane to a name for what changes put there: its messages are wrapped. Those that a store puts
// into lanes by itself are not, and may have any attribute.
func laneOfChanges(n queue.Name) *queue.Lane {
	lane := laneTo(n, queue.TopicBefore)
	lane.Queue.Name = "change-" + lane.Queue.Name
	lane.Definition.Labels[labelBy] = byWraps
	return lane
}

// wraps tells whether the messages of a lane are wrapped.
func wraps(d *queue.Definition) bool { return d.Labels[labelBy] == byWraps }

// leadsSomewhere tells whether that to which a lane leads is there.
func (r *Router) leadsSomewhere(ctx context.Context, d *queue.Definition) (bool, error) {
	n, as, err := leadsTo(d)
	if err != nil {
		return false, nil // it is no lane
	}
	if topic, err := r.HasTopic(ctx, n); err != nil || topic && as == queue.TopicBefore {
		return topic, err
	}
	_, s, err := r.of(n)
	if err != nil {
		return false, err
	}
	return s.Has(ctx, n)
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
	lane.Use = func() { r.relay.start(shard, lane) }
	return lane
}

// laneAttribute has what a lane itself must not heed: it has neither delays nor deduplication.
const laneAttribute = "~relay"

// wrapped is what laneAttribute says, as JSON.
type wrapped struct {
	Dedup     string    `json:"dedup,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
}

// wrap makes a message one for a lane of changes. Its attributes are copied when they change.
func wrap(m *message.Message) {
	w, own := wrapped{m.Dedup, m.NotBefore}, wrapping(m)
	if w == (wrapped{}) && own == "" {
		return
	}
	m.Dedup, m.NotBefore = "", time.Time{}
	text, err := json.Marshal(w)
	if err != nil { // a text and a time always have a JSON form
		return
	}
	name := laneAttribute
	if own != "" { // the sender has such an attribute, too
		name = own + "~"
	}
	c := m.Clone()
	c.Attributes.Set(name, message.String(string(text)))
	*m = *c
}

// wrapping is the longest name of an attribute that begins with laneAttribute: what wrap added, if it did; "": none.
func wrapping(m *message.Message) (name string) {
	for i := range m.Attributes {
		if n := m.Attributes[i].Name; len(n) > len(name) && strings.HasPrefix(n, laneAttribute) {
			name = n
		}
	}
	return name
}

// unwrap takes back what wrap did.
func unwrap(m *message.Message) error {
	name := wrapping(m)
	if name == "" {
		return nil
	}
	v, _ := m.Attributes.Get(name)
	var w wrapped
	if err := json.Unmarshal([]byte(v.AsString()), &w); err != nil {
		return fmt.Errorf("attribute %s: %w", name, err)
	}
	m.Attributes.Delete(name)
	m.Dedup, m.NotBefore = w.Dedup, w.NotBefore
	return nil
}
