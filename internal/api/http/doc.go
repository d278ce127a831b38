// Package http is the HTTP door: queues and topics as JSON over plain HTTP, for programs without a client library of
// their own, for curl, and for this project's command. It also serves health, metrics and its own description.
//
// It knows the wire format and nothing of how messages are kept; it never logs (see Options.Report). Client is the same
// door from the other side.
//
//	m := http.NewMetrics(0)
//	store, err := queue.Open(ctx, queue.Options{Journal: j, Observe: m.Settled})
//	s, err := http.New(http.Config{}, http.Options{Store: store, Users: users, Metrics: m})
//	addr, err := s.Start(ctx)
//	defer s.Close(context.Background())
//
//	curl -X POST http://127.0.0.1:7700/default/queues/news/messages -H 'Content-Type: text/plain' -d hello
//	curl -X POST http://127.0.0.1:7700/default/queues/news/claim -H 'Content-Type: application/json' -d '{"max": 10, "wait": "20s"}'
//
// # Paths
//
// The first segment is the namespace. openapi.yaml, which is served at /openapi.yaml, describes every path; a test
// holds the two together. Errors are application/problem+json (RFC 9457) with a hint and, for texts, a position.
//
// # Messages
//
// A message's body is "body" (text), "body_base64" (any bytes) or "json" (any JSON value; the body is its compact
// text). What comes out uses "json" for the rows of a queue with columns, "body" for what is valid UTF-8, and
// "body_base64" for the rest. Attributes keep their type: JSON strings, numbers, booleans and null are themselves, and
// {"base64": …}, {"time": …} and {"decimal": …} are what JSON has no notation for. Durations are "30s" or a number of
// seconds.
//
// A put of one message or of {"messages": […]} is one atomic group. A body of application/x-ndjson is a stream: each
// line stands for itself and is answered by a line, while the next ones are still being sent.
//
// # What is bounded
//
// Connections, bytes of bodies being read at once, the size of one body and one line, the time to send headers and
// body, the time in which a client has to take each part of an answer, messages and bytes in the answer to a claim. A
// client that goes away while it waits stops waiting, and claims that could not be written to it are put back
// uncounted.
package http
