package sqs

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
)

// perGroup stands between group and id in the store's deduplication id of a queue whose ids count within each group,
// and behind the number of purges of one that was purged. None of them can have it.
const perGroup = "\x00"

// dedup is the store's deduplication id of a message for a FIFO queue: the one that was sent, or else the hash of the
// body, within the group where the queue wants that. Ids from before a purge are others than those from behind it.
func dedup(v *view, in *wire.Outgoing) string {
	id := in.MessageDeduplicationID.Value
	if !in.MessageDeduplicationID.Set {
		sum := sha256.Sum256(in.MessageBody)
		id = hex.EncodeToString(sum[:])
	}
	if v.GroupDedup {
		id = in.MessageGroupID.Value + perGroup + id
	}
	if v.Purges > 0 {
		id = strconv.Itoa(v.Purges) + perGroup + id
	}
	return id
}

// shownDedup is a store's deduplication id as SQS shows it.
func shownDedup(id string) string { return id[strings.LastIndex(id, perGroup)+1:] }
