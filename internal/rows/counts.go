package rows

import "sync/atomic"

// counts are what a sink has done.
type counts struct {
	rows, blocks, rejected, conflicts, halvings, reconnects, maybeDoubled, described, drifts, created,
	noSuchRow atomic.Uint64
}

func (c *counts) all() map[string]uint64 {
	return map[string]uint64{
		"rows": c.rows.Load(), "blocks": c.blocks.Load(), "rejected": c.rejected.Load(),
		"conflicts": c.conflicts.Load(),
		"halvings":  c.halvings.Load(), "reconnects": c.reconnects.Load(), "maybe_doubled": c.maybeDoubled.Load(),
		"described": c.described.Load(), "drifts": c.drifts.Load(), "tables_created": c.created.Load(),
		"no_such_row": c.noSuchRow.Load(),
	}
}
