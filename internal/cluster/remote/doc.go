// Package remote is a store of another node: what a node asks of the one that owns a shard, over one connection for
// each two nodes.
//
//	server := remote.NewServer(listener, func(shard int) (queue.Shard, error) { … })
//	node := remote.Dial(listener.Dialer(), peer)
//	store := node.Shard(3, resolve) // a queue.Shard
//
// A call is a gRPC stream: the request, perhaps questions back (a ClaimRequest's Hold, a ReplayRequest's Home) and
// their replies, and the answer. gRPC gives what many calls over one connection need: a large body does not stop small
// ones, a reader that does not read holds up its own call alone, cancellation and deadlines arrive at the other end.
//
// A caller confirms what it has claimed: claims whose answer does not reach the caller go back at once, uncounted.
// Claims of an owner end with the owner, or with the connection through which they were made.
//
// Errors are those of the store: they meet errors.Is and errors.As as they do there. Besides, ErrAway says that the
// node was not reached and nothing was done; queue.ErrUnavailable, as ever, that it is not known what was done.
package remote
