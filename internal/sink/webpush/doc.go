// Package webpush is a sink that delivers messages to browsers, by Web Push (RFC 8030) with VAPID (RFC 8292), encrypted
// (RFC 8291).
//
//	sinks:
//	  browsers:
//	    type: webpush
//	    inputs: [by_platform.web]
//	    key_file: vapid.pem
//	    subject: mailto:push@example.com
//	    payload: '{title: .title, url: .url}'
//	    ttl: 1h
//	    feedback: dead_browsers
//
// Each message is a request of its own, on connections that all messages for one push service share (package push):
// none waits for the answer of another. Each is encrypted for its subscription alone, which costs some tenths of a
// millisecond of this machine's time.
//
// # What a message says
//
//	subscription   what the browser gave: JSON with endpoint and keys. Or its parts:
//	endpoint       where to post
//	p256dh, auth   what to encrypt with, in base64
//	topic          a message that has not reached the browser yet is replaced by the next one of its topic
//	urgency        very-low, low, normal or high
//	expiration     after which nobody wants it: a time, as Unix seconds or RFC 3339; 0: now or never
//	registered_at  when the browser subscribed, as Unix seconds or RFC 3339
//
// Endpoints come from browsers, and so from anybody. Only those of the push services that the configuration names are
// posted to; by default, the services of the usual browsers.
//
// # Answers
//
// 404 and 410 mean that the subscription is gone: it is remembered durably, reported on the feedback queue, and nothing
// is sent to it any more. 413 and what is wrong with one message reject it. 429 lets that subscription rest and no
// other, until several are answered so at once: then the push service rests. 401 and 403 are tried once more with a new
// token, and then later: a subscription may have been made with another key. Server errors and lost connections are
// tried again.
//
// A message that has expired, or that a newer one for its subscription with its topic has replaced, is dropped: settled
// and counted, and no dead letter. The newer one is known when it has come to the sink, or, with Config.Backlog, when
// it waits in that queue.
package webpush
