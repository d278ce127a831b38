// Package fcm is a sink that delivers messages by Firebase Cloud Messaging, over its HTTP v1 API.
//
//	sinks:
//	  phones:
//	    type: fcm
//	    inputs: [by_platform.android]
//	    projects:
//	      news-app: { account_file: service-account.json }
//	    message: '{notification: {title: .title, body: .text}, data: {id: $id}}'
//	    ttl: 1h
//	    feedback: dead_phones
//
// Each message is a request of its own on connections that all share (package push): none waits for the answer of
// another. The access token of a project's service account is fetched when it is first wanted, and renewed before it
// ends.
//
// # What a message says
//
// The program of message makes what FCM calls a message, but for whom it is for and what attributes say. Without a
// program the body is that. Attributes of a message:
//
//	token          the device; in place of it fid, the app's installation there, or topic or condition, for many
//	project        the name of the project, where several are configured
//	priority       high or normal, for Android
//	collapse_key   for Android
//	expiration     after which nobody wants it: a time, as Unix seconds or RFC 3339; 0: now or never
//	registered_at  when the app registered the token, as Unix seconds or RFC 3339
//
// # Answers
//
// UNREGISTERED means that the device is gone for this project: it is remembered durably, reported on the feedback
// queue, and nothing is sent to it any more, unless it registered again later. SENDER_ID_MISMATCH means that, or that
// the project is wrong: see package suspect. INVALID_ARGUMENT rejects the message; when most are answered so, the
// project rests. QUOTA_EXCEEDED lets the device rest
// as long as FCM asks for; when several devices are answered so at once it is the project's quota, and all of the
// project waits. UNAVAILABLE and INTERNAL are tried again after Retry-After, and are no try while
// nothing is taken: see rest.Outage. THIRD_PARTY_AUTH_ERROR is tried again
// later: the project's credentials for Apple or Web Push need somebody's attention. When several devices are answered
// so, that counts as no try, and when all are, the project rests. An access token that is refused is
// fetched anew once.
//
// FCM knows no id of the sender's: a request whose answer was lost is tried again and may arrive twice. It is counted,
// and a program can put $id into the data for the app to tell.
//
// A message that has expired, or that a newer one for its device with its collapse key has replaced, is dropped:
// settled and counted, and no dead letter. The newer one is known when it has come to the sink, or, with
// Config.Backlog, when it waits in that queue.
package fcm
