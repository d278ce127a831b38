// Package push delivers a subscription's messages by HTTP POST to an endpoint, as Pub/Sub's push subscriptions do. It
// knows no store: what it delivers comes from a Source, which also hears what became of each message.
//
//	transport := push.NewTransport(push.TransportOptions{}) // one for all subscriptions: connections are reused
//	p, err := push.New(push.Config{
//		Endpoint:     "https://example.com/news",
//		Subscription: "projects/local/subscriptions/news",
//		AckDeadline:  10 * time.Second,
//		Transport:    transport,
//	}, source)
//	if err != nil {
//		return err // an endpoint that cannot be one
//	}
//	go p.Run(ctx)
//
// # What is sent
//
// Wrapped, the default, is a JSON object:
//
//	{"message": {"data": "aGk=", "attributes": {"lang": "ja"}, "messageId": "…", "message_id": "…", "publishTime": "…", "publish_time": "…",
//	 "orderingKey": "k"}, "subscription": "projects/local/subscriptions/news", "deliveryAttempt": 2}
//
// Unwrapped is the message's data and nothing else; with metadata there are the headers
// x-goog-pubsub-subscription-name, x-goog-pubsub-message-id, x-goog-pubsub-publish-time, x-goog-pubsub-ordering-key and
// x-goog-pubsub-delivery-attempt, and a header for each attribute that can be one and is no business of HTTP's own.
//
// With OIDC there is an Authorization header with a bearer token. Google signs it with keys of its own, which are not
// here: the token has the same claims and no signature ("alg": "none", RFC 7519, section 6). An endpoint can read it,
// and no endpoint that checks signatures takes it.
//
// # What an answer means
//
// 102, 200, 201, 202 and 204 acknowledge the message. Every other answer, redirects among them, gives it back, and so
// does none within the acknowledgement deadline. What an answer's body says is of no interest.
//
// # How fast
//
// The number of requests at once, the window, begins at a few, grows by one with each acknowledgement, so doubles in
// each round, and is halved by each failure. When failures go on without a success between them, nothing is sent for a
// while: 100 ms, then twice as long each time, up to a minute. A subscription with a retry policy has no such pauses:
// its messages wait by themselves. Messages with one ordering key go one after the other; when one is given back, those
// of its key behind it are, too.
package push
