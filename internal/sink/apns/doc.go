// Package apns is a sink that delivers messages to Apple devices, by the HTTP/2 provider API of APNs.
//
//	sinks:
//	  phones:
//	    type: apns
//	    inputs: [by_platform.ios]
//	    apps:
//	      com.example.news: { team: TEAM123456, key_id: KEY1234567, key_file: AuthKey_KEY1234567.p8 }
//	    push_type: alert
//	    ttl: 1h
//	    payload: '{aps: {alert: {title: .title, body: .text}}}'
//	    feedback: dead_phones
//
// Each message is a request of its own on a connection that all share (package push): none waits for the answer of
// another, and no goroutine waits at all. It follows the far end's limit of streams, and makes another connection only
// when those of the present ones are all in use, or for another try of what the far end failed on the only one.
//
// # What a message says
//
// Attributes of a message say where it goes, and override what is configured for all:
//
//	token          the device: hexadecimal digits. Needed, unless there is a channel
//	channel        the id of a broadcast channel for Live Activities, in place of a token
//	app            the name of the app, where several are configured
//	topic          apns-topic; else the app's topic with what the push type adds to it
//	push_type      apns-push-type
//	priority       apns-priority: 10, 5 or 1
//	expiration     apns-expiration: a time, as Unix seconds or RFC 3339; 0: now or never
//	collapse_id    apns-collapse-id
//	registered_at  when the app registered the token, as Unix seconds or RFC 3339
//
// The apns-id is the message's id, so it is the same each time that the message is tried.
//
// # Answers
//
// BadDeviceToken and DeviceTokenNotForTopic mean that a device is gone, or that the app's environment or topic is
// wrong; what other answers say decides, see package suspect. A device that is gone (Unregistered, ExpiredToken) is
// remembered durably, reported on the feedback queue, and nothing is sent to it any more, unless it registered again
// later. What is wrong with one message rejects it. TooManyRequests lets that device rest and no other. A provider
// token that has expired is renewed once; while the far end refuses our tokens or our keys, nothing more is sent for
// that app and messages wait. Server errors and lost connections are tried again: with the same apns-id, on another
// connection where there may be one, and counted as possibly doubled where the request had left and only its answer was
// lost.
//
// A message that has expired, or that a newer one with its collapse id has replaced, is dropped: settled and counted,
// and no dead letter. The newer one is known when it has come to the sink, or, with Config.Backlog, when it waits in
// that queue.
package apns
