// Package webhook is a far end for webhooks that can be told to misbehave: for tests, the demo and the examples.
//
// A Receiver is an http.Handler that counts what it gets by message id, so that a test can say whether every message
// came, and how many came twice. Left alone it answers 200. Told to, it hangs, breaks connections, asks for less,
// refuses, answers with garbage, or takes its time.
//
//	s, err := webhook.Listen("127.0.0.1:0")
//	defer s.Close()
//	s.Script(webhook.Behaviour{Do: webhook.Status, Code: 503, RetryAfter: "1"}, webhook.Behaviour{Do: webhook.Reset})
//	… // the first request is answered 503, the second connection breaks, and from the third on all is well
//	s.Count(id)
//
// Other processes tell it over HTTP:
//
//	PUT  /-/always      {"do": "status", "code": 503}           every request from now on
//	PUT  /-/script      [{"do": "reset"}, {"do": "hang"}]       the next ones, one each
//	GET  /-/counts      {"requests": 12, "delivered": 10, "messages": 10, "doubles": 0}
//	POST /-/forget      begins to count anew
//
// One request alone can ask for a behaviour in its query: /hook?do=status&code=500.
//
// It is not a server for the open network.
package webhook
