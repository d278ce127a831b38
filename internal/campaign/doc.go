// Package campaign remembers the campaigns of a server: what was started, how far it is, and whether it is to go on.
//
//	r, err := campaign.Open(ctx, store, nil)
//	v, _, err := r.Start(ctx, campaign.Order{Queue: news, Body: []byte(`{"news": 42}`)})
//	err = r.Pause(ctx, v.ID)
//
// A campaign is one message with the attribute Attribute in a queue, and everything that is made of it: the fanout that
// makes it into many asks whether it may go on, sources of queues leave in their queue what belongs to a paused one,
// and the transform campaign, which stands before a sink, holds back the rest and counts what becomes of it.
//
// States are durable before they are answered. How many were made is kept in the change that makes them. Counts of what
// became of them are kept once a second, and at the end: after a kill up to a second of them is missing, or what was
// under way counts twice.
//
// A campaign is done when its fanout is over and nothing of it is left in the queues that are guarded. The last
// MostEnded of those that have ended are remembered.
package campaign
