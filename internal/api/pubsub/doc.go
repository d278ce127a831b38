// Package pubsub is the door for Google Pub/Sub clients: google.pubsub.v1 over gRPC, and its REST form on the same
// port. A client that is told PUBSUB_EMULATOR_HOST=127.0.0.1:8085 works with it unchanged.
//
//	door, err := pubsub.New(pubsub.Config{}, pubsub.Options{Store: store, Users: users})
//	addr, err := door.Start(ctx)
//	defer door.Close(context.Background())
//
// # Names
//
// A project is a namespace: projects/local/subscriptions/news is the queue default/news, by the store's aliases. Topics
// and queues have name spaces of their own. Every queue is a subscription, whoever made it; one that subscribes to no
// topic is its own topic as well.
//
// # What is kept where
//
// What the store knows of a queue (deadline, retention, ordering, labels, dead letters, …) stands in its definition,
// where other doors see and change it. The rest (retry policy, push endpoint, the filter as it was written, schemas,
// policies, …) is kept as notes of the store, under the room "api/pubsub" (type settings). A detached subscription is a
// note without a queue.
//
// # Messages
//
// Publishing and delivering go around the generated types: a Publish request is read into the store's messages where it
// lies, and responses are written from claims (codec.go, wire*.go). Everything else uses the generated service.
//
// # Ack ids and deadlines
//
// An ack id names a claim of the store, the stream that it went to and the attempt. Messages that a stream holds stay
// with it until their deadline also when it breaks: clients acknowledge by other calls than they receive with, and
// reconnect. But when the client itself ends its stream (by a half-close or a reset, which framedConn sees), what it
// has not said a word of goes back after half a second: Google's clients move the deadline of what they take at once,
// so the rest was never read. With a retry policy a claim's lease is its deadline and the back-off after it, so that a
// deadline that passes costs the same as a nack.
//
// # What is bounded
//
// Connections, the size of a request and the time to send it (type incoming), messages and bytes in a response, and
// what a stream holds at once when its client says so. A client that does not read stops its own stream and nobody
// else's.
package pubsub
