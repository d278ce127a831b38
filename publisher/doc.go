// Package publisher publishes messages to Google Pub/Sub, to its emulator and to hikyaku, and never lets one wait for
// company.
//
// The Google publisher gathers messages until there are a hundred, or a megabyte, or until ten milliseconds have
// passed. A lone message waits those ten milliseconds for others that do not come, and no setting is right both for one
// message and for a thousand. Here a message leaves as soon as the line is free, and messages gather only while it is
// busy: requests are small when there is little to do and large when there is much, and there is nothing to set.
//
// # Moving
//
// One line changes, the one that makes the publisher; types and errors are those of the Google library wherever they
// mean the same:
//
//	client, err := pubsub.NewClient(ctx, "my-project")
//	…
//	p := publisher.New(client, "news") // was: client.Publisher("news")
//	defer p.Stop()
//	r := p.Publish(ctx, &pubsub.Message{Data: data})
//	id, err := r.Get(ctx)
//
// The client, with its connections, its credentials and its retry settings, stays the program's. Programs that speak
// gRPC themselves begin with NewWithConn, or with NewWithTopicClient.
//
// # When a message leaves
//
// Without a key, at once, if few messages are in flight, or few requests; how many are few depends on the round-trip
// time. To a service next door a second request costs more than it gains, so the rest gathers while one is on its way.
// To one that is 25 ms away some twenty requests of a stream are in flight, evenly spaced, and a message waits for a
// small part of that time. No clock is involved: the next request leaves when as much waits as is its share of what is
// in flight already. Stats tells what came of it.
//
// A request has at most CountThreshold messages, at most 1,000, and is full with the message that makes ByteThreshold
// bytes.
//
// Thresholds gives the classic policy on the same code, for whoever wants to compare, or prefers a few requests to
// early messages.
//
// # Order
//
// With EnableMessageOrdering, messages may have an OrderingKey. One request of a key is on its way at a time and is
// sent again in its place, so what the service has of a key is in the order in which it was published. If a message
// cannot be published, all that follow of its key fail with pubsub.ErrPublishingPaused, until ResumePublish says that
// the program has dealt with it. Keys do not wait for each other.
//
// # Flow control
//
// What was published and not yet answered is bounded, by 10,000 messages and 64 MiB unless told otherwise, and Publish
// blocks while there is no room: a service that is slow slows the program down, instead of filling its memory.
// FlowControlSettings can make it an error instead, or turn it off, which is the default of the Google publisher. Calls
// that block are let in in their order, and their context ends the waiting.
//
// # Errors
//
// A request is sent again when the service says so (ABORTED, CANCELLED, INTERNAL, RESOURCE_EXHAUSTED, UNKNOWN,
// UNAVAILABLE, DEADLINE_EXCEEDED), first after up to 100 ms, then after up to four times as long each time, until
// Timeout. So a message can arrive twice; it cannot get lost with its result good.
//
// Each message has an error of its own. One that could never be sent is told so at once. If the service finds fault
// with a request of many, it is divided until the message that is at fault stands alone, and the others are published.
//
// # Ending
//
// Flush waits for what was published before it. Stop does that too, and admits no more; afterwards no goroutine is
// left. Before that there is one for each request in flight, and one that waits for work.
//
// # What it is not for
//
// It receives nothing; the Google library does that well. It keeps nothing over a restart: what has no result yet is
// lost with the program.
package publisher
