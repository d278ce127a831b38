// Package pipeline runs a graph of components: sources bring messages in, transforms make others of them, sinks deliver
// them. It owns everything that no component should have to think of: batches, concurrency, time-outs, retries with
// back-off, dead letters, acknowledgement from end to end, back-pressure, hops and a clean stop.
//
//	p, err := pipeline.New([]pipeline.Node{
//		{Name: "lines", Source: lines},
//		{Name: "shape", Inputs: []string{"lines"}, Transform: shape},
//		{Name: "archive", Inputs: []string{"shape"}, Sink: archive},
//	}, pipeline.Options{Store: store})
//	if err != nil {
//		return err // GraphErrors: what is wrong with which node
//	}
//	result, err := p.Run(ctx)
//
// What is to be changed while it runs is run by a [Runner].
//
// # Promises
//
// At least once: a delivery is settled as delivered when everything that was made from it was taken by the far ends or
// is durably a dead letter. Otherwise it is given back (component.Retry), and its source sends it again. Nothing is
// dropped silently: what a step gives up becomes a dead letter, which is the source's message as it came, with the
// reason, so that a replay takes the whole way again. What a sink drops because nobody wants it any more
// (component.Dropped) is settled and counted.
//
// A sink takes a batch and answers for each of its messages (component.Sink), or it takes message after message and
// answers when it likes (component.AsyncSink): then no message waits for the answer of another, and none costs a
// goroutine.
//
// A transform takes one message at a time, or what has gathered while it was busy (component.GroupTransform), or it
// sends what it makes of a message while it makes it, with back-pressure (component.StreamTransform). What the last one
// sends is a journey of its own, with its own retries and dead letters, and the message that it was made of is settled
// when the transform says so.
//
// Order: messages keep the order of their source through transforms with one worker, and into sinks with a concurrency
// of one, as long as none of them has to be retried.
//
// Everything is bounded: the messages and bytes in flight, per source and per step, and with them what waits for a
// retry. A full step slows the one before it, down to the source's Send. A message that waits for its retry holds
// neither a request slot nor the messages behind it.
//
// # What it is not for
//
// It reads no configuration (package config does), knows no kind of component, and keeps nothing over a restart: what
// has to survive is in the sources' queues.
//
// # The inside
//
// Every transform and sink has a stage: a bounded room where parts of journeys wait, a limit of how many groups are
// worked on at once, and a heap of parts that sleep until their retry. A group leaves when a slot is free; no goroutine
// exists while there is nothing to do. For an asynchronous sink one goroutine hands parts over, while fewer are in
// flight than may be, and deals with the answers that have come; the sink's own goroutines only leave them. A journey
// is one delivery and the count of its parts under way; when the last part ends, it is settled. Messages that come
// together (component.Slab) are journeys of their own that share memory, locks and looks at the clock until something
// happens to one of them. Dead letters are written by stages of their own, one a dead-letter queue, with the same
// retries and batches as any sink.
package pipeline
