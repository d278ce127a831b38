// Package hms is a sink that delivers messages by Huawei's Push Kit, over its REST API (v1).
//
//	sinks:
//	  phones:
//	    type: hms
//	    inputs: [by_platform.huawei]
//	    apps:
//	      news: { client_id: "100123456", secret_file: hms-secret }
//	    message: '{android: {notification: {title: .title, body: .text, click_action: {type: 3}}}}'
//	    ttl: 1h
//	    feedback: dead_phones
//
// Each message is a request of its own on connections that all share (package push): none waits for the answer of
// another. The access token of an app is fetched with its id and secret when it is first wanted, and renewed before it
// ends.
//
// # What a message says
//
// The program of message makes what Push Kit calls a message, but for whom it is for and what attributes say. Without a
// program the body is that. Attributes of a message:
//
//	token          the device; or topic or condition, for many
//	app            the name of the app, where several are configured
//	urgency        high or normal, for messages that only the app sees
//	collapse_key   0 to 100: of messages for a device that is offline only the last one of each is kept; -1: all are
//	expiration     after which nobody wants it: a time, as Unix seconds or RFC 3339; 0: now or never
//	registered_at  when the app got the token, as Unix seconds or RFC 3339
//
// # Answers
//
// Push Kit says what became of a message by a code in the body, mostly with the status 200. 80000000 is delivered.
// 80300007, and 80100000 that names our token, mean that the token is none of the app's: see package suspect for how it
// is told whether the device is gone or the app is wrong. 80300002 means that, or that the app may not push: the device
// is reported as a suspect and not remembered. 80200001 and 80200003 refuse the access token: it is fetched anew once.
// 503 is Push Kit's flow control: the app rests, longer each time. 81000001, 502 and other server errors are tried
// again, and are no try while nothing is taken: see rest.Outage. Other codes reject the message; when most are answered
// so, the app rests.
//
// Push Kit knows no id of the sender's: a request whose answer was lost is tried again and may arrive twice. It is
// counted, and a program can put $id into the data for the app to tell.
//
// A message that has expired, or that a newer one for its device with its collapse key has replaced, is dropped:
// settled and counted, and no dead letter. The newer one is known when it has come to the sink, or, with
// Config.Backlog, when it waits in that queue.
package hms
