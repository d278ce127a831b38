// Package shard makes several stores one: each queue and each topic is in one of them, its shard, with a journal and a
// lock of its own. To those above, a Router is the same queue.Service as a single store.
//
//	r, err := shard.Open(ctx, shard.Options{Journals: journals, Store: queue.Options{OnDemand: true}})
//	defer r.Close()
//
// A topic is in the shard that its name says, and its subscriptions are there with it, so that a publish stays one
// atomic group. Any other queue is in the shard that its name says; so is the queue of its dead letters, if it has the
// usual name. A queue that is renamed stays where it is, and the Router remembers where that is.
//
// What one shard does is atomic. What concerns several goes by the relay: the group of the first shard has the messages
// for the others, too, in lanes, queues of its own; from there they are carried on, each once (see relay).
//
// Notes are all in shard 0. One that has to be kept with something in another shard is kept there first, as pending.
package shard
