package publish

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// What the publish bench tells its servers.
const (
	sayForget = "forget"
)

// kept counts the syncs that a server makes while a side works. Whoever says that what was published is durable has
// them counted: a topic that nobody subscribes to keeps nothing, and is fast. nil: the server keeps nothing, and its
// rows say nothing.
type kept struct {
	server *harness.Child
	syncs  uint64
}

// keeping is for a side of a topic, when its server is durable.
func keeping(kind string, t pubsubTopic) *kept {
	if kind != serverDurable {
		return nil
	}
	return &kept{server: t.server}
}

// during counts while something is done.
func (k *kept) during(do func() error) error {
	if k == nil {
		return do()
	}
	before, err := k.server.Say(harness.SayStats)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := k.server.Say(harness.SayStats)
	k.syncs += after.Journal.Syncs - before.Journal.Syncs
	return err
}

// check fails when there were fewer syncs than there have to be.
func (k *kept) check(c *harness.Contender, least int64) error {
	if k == nil || int64(k.syncs) >= least {
		return nil
	}
	return fmt.Errorf(
		"the row of %s says that %d messages were durable, and the server made %d syncs: %d are the least", c.Name,
		c.Sum().N, k.syncs, least)
}

// tell sets the syncs in a row.
func (k *kept) tell(r *measure.Row) {
	if k != nil {
		r.Set("syncs", int64(k.syncs))
	}
}
