// Package wns is a sink that delivers messages to apps on Windows, by the Windows Push Notification Services.
//
//	sinks:
//	  desktops:
//	    type: wns
//	    inputs: [by_platform.windows]
//	    apps:
//	      news: { client_id: "ms-app://s-1-15-2-1", secret_file: wns-secret }
//	    payload: '"<toast><visual><binding template=\"ToastGeneric\"><text>\(.title | @html)</text></binding></visual></toast>"'
//	    ttl: 1h
//	    feedback: dead_desktops
//
// Each message is a request of its own, on connections that all messages for one host of WNS share (packages push and
// pool). WNS documents HTTP/1.1: a connection has one message at a time then. The access token of an app is fetched
// with its id and secret when it is first wanted, and renewed before it ends.
//
// # What a message says
//
// The program of payload makes what is sent: a text is sent as it is, as XML is; anything else as JSON. Without a
// program the body is that. Attributes of a message:
//
//	channel        where to post: the channel URI that the app was given
//	app            the name of the app, where several are configured
//	push_type      toast, tile, badge or raw
//	tag, group     at most 16 letters and digits each: a newer one of the same type, tag and group stands for it
//	cache          true or false: whether WNS keeps it for a device that is offline; not of toasts
//	expiration     after which nobody wants it: a time, as Unix seconds or RFC 3339; 0: now or never
//	registered_at  when the app got the channel, as Unix seconds or RFC 3339
//
// Channels come from apps, and so from anybody. Only those at the hosts that the configuration names are posted to; by
// default notify.windows.com and what is below it, as Microsoft asks for: an access token would go to anybody else.
//
// # Answers
//
// 404 and 410 mean that the channel is gone: it is remembered durably, reported on the feedback queue, and nothing is
// sent to it any more. 403 means that the channel is another app's, or that the app is wrong: see package suspect. 401
// refuses the access token: it is fetched anew once. 406, 429 and X-WNS-Status: channelthrottled let the channel rest,
// as long as WNS says, and when several are told so at once, the app. X-WNS-Status: dropped, with the status 200, makes
// a dead letter: WNS has said that it did not pass the message on. 413 and what is wrong with a message rejects it;
// when most are answered so, the app rests. Server errors and lost connections are tried again.
//
// A message that has expired, or that a newer one for its channel with its type, tag and group has replaced, is
// dropped: settled and counted, and no dead letter. The newer one is known when it has come to the sink, or, with
// Config.Backlog, when it waits in that queue.
package wns
