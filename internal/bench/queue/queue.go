// Package queue measures the store over its journal in files, beside what the disk could do at best. Run says what
// is measured; it is hikyaku bench queue. It is no test: no speed is right or wrong here.
package queue

import (
	"context"
	"sync"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// Run measures the store over its journal in files, each figure beside the machine's limit:
//
// The syncs of rows about puts and claims are counted: a run ends with an error when there were fewer than they need.
//
//   - put, put-group, put-pipelined: durable puts of one message by writers at once, of a hundred by one, and of a
//     hundred by several. The limit is one writer that writes the same bytes, of all writers at once, and syncs them;
//     for put-pipelined it writes as much as makes the sync cheap. The lone writer writes and syncs one message.
//   - claim, claim-where: a message claimed and durably settled, the oldest or the oldest that meets a condition, which
//     is the same each time or a new one. The limit is the same as for puts, with the bytes of a claim and a
//     settlement.
//   - claim-deep: a claim by a new condition each time, an equality and a range, which a share of the waiting messages
//     meets, and its settling. Its peer is the same with few messages waiting, and the ratio is that of the costs.
//   - hand-over: from the moment a message is durable until a reader has it that waited for it. Its peer is the same
//     without others that wait, and the ratio is that of the costs.
//   - beside: a durable put while others peek, claim, replay, list or seek in another, long queue, take and delete a
//     snapshot where there are 4,998, list 100,000 notes, or are refused a put for which there is no room with 18,750
//     queues, over a journal that takes a millisecond to read a record. The limit is that of a put.
//   - shards: messages put, or put, claimed and settled, by 64 callers in 8 queues of two shards. Its peer is the same
//     with one shard.
//   - relay: groups of a hundred messages that go from one shard to another, until they have arrived. Its peer is the
//     same within one shard.
//   - restart: the opening of a store with messages waiting, after a clean stop or a death, with the files in the
//     system's cache or not. The limit reads as many bytes, once and in order.
//   - memory: of a process in which messages wait, bare and with two indexes.
//   - cleaning: durable puts while a queue that nobody reads gets a twentieth of them and readers settle the others.
//     Its peer is as many raw writers and readers that append the same bytes to one file and share its syncs, beside a
//     copier as busy as the store, and the ratio is that of the p99.9. Then what cleaning wrote, and the reading of
//     what waits, with nothing of it in the system's cache. The limit reads the same bytes in order.
//
// Times are of calls, rates are messages a second; ratio is the median of our rate to the limit's, unless said
// otherwise, ratio_q1 and ratio_q3 its quartiles. Where a number is asked for, the row says which, in asked, and
// whether it was met.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("queue", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	return s.Measure(ctx, s.experiments(), s.OpenRaw, s.CloseRaw)
}

// session is one run of the queue bench.
type session struct {
	harness.Session
	extent
	cold struct {
		once sync.Once
		can  bool
		err  error
	}
}
