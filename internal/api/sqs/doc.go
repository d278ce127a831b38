// Package sqs is the door for programs that speak Amazon SQS: the AWS JSON 1.0 protocol of today's SDKs and the query
// protocol of older ones, on one port. A program that is told the endpoint http://127.0.0.1:9324 works with it
// unchanged.
//
//	door, err := sqs.New(sqs.Config{}, sqs.Options{Store: store, Users: users})
//	addr, err := door.Start(ctx)
//	defer door.Close(context.Background())
//
//	aws --endpoint-url http://127.0.0.1:9324 sqs create-queue --queue-name news
//
// # Names
//
// An account is a namespace: http://127.0.0.1:9324/000000000000/news is the queue default/news, by the store's aliases.
// Only the last two segments of a queue URL count, whatever its host. A queue is FIFO when its name ends with .fifo,
// and no other queue is. Messages are sent to the queue of a name or, when there is a topic of it, to the topic's
// subscriptions.
//
// # What is kept where
//
// What the store knows of a queue (visibility timeout, retention, delay, redrive policy) stands in its definition,
// where other doors see and change it. The rest (tags, policy, long polling, deduplication scope, …) is kept as notes
// of the store, under the room "api/sqs" (type settings). A queue that is made here is unordered unless it is FIFO: the
// groups of a standard queue do not order it.
//
// # Messages
//
// A String attribute is a string, a Binary one bytes, a Number an integer, a decimal or a float, so that conditions and
// other doors see what was meant. What those cannot say (Number.price, 007) is kept beside them (type typeLines). A
// ReceiveMessage names conditions among its MessageAttributeNames: hikyaku.where:lang = 'ja'.
//
// # Receipt handles
//
// A handle names a claim of the store, and the message and the hand-out that it is of; it is sealed for its queue. When
// the claim is over, the rest of it decides what SQS would do (call.stale).
//
// # Connections
//
// The usual request, a POST of moderate length over a connection that stays, is served by package line; net/http serves
// the rest. A client that goes away while it waits is noticed by both, and claims that cannot be written to a client
// are put back uncounted.
//
// # What is bounded
//
// Connections, the size of a request and of all that are read at once, messages and bytes of an answer, messages in
// flight, tasks that move dead letters, answers remembered for ReceiveRequestAttemptId.
package sqs
