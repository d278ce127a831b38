package shard

import (
	"math/bits"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// numbers makes the numbers of queues, which each shard gives for itself, those of all shards: the highest bits say
// which one it is. So tokens keep their length and their form.
type numbers struct {
	low int // bits of a shard's own number
}

func numbersOf(shards int) numbers { return numbers{32 - bits.Len(uint(shards-1))} }

// most is what the numbers of one shard stay below.
func (n numbers) most() uint32 { return uint32(1)<<n.low - 1 }

// whole is a shard's number as those above see it.
func (n numbers) whole(shard int, number uint32) uint32 { return uint32(shard)<<n.low | number }

// out makes a shard's token one of the Router.
func (n numbers) out(shard int, t queue.Token) queue.Token {
	t.Queue = n.whole(shard, t.Queue)
	return t
}

// in is the shard of a token, and that shard's own token.
func (n numbers) in(t queue.Token) (shard int, own queue.Token) {
	shard = int(t.Queue >> n.low)
	t.Queue &= uint32(1)<<n.low - 1
	return shard, t
}
