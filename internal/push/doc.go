// Package push sends many small requests to one far end over HTTP/2, without anybody waiting for anybody: it is what
// the sinks for APNs, FCM, Huawei's Push Kit, Web Push and Windows share.
//
// A [Client] keeps a few long-lived connections to one address. [Client.Send] puts a request into the client's line and
// returns; the answer finds its request, and done is called with it. Connections take from the line what they have
// streams for, so a request belongs to no connection until one is ready to write it: a far end that stops reading,
// refuses, or goes away holds up only what it was already given. Whatever has gathered while one write runs leaves with
// the next: no request waits for company, and under load a hundred leave in one TLS record.
//
//	c, err := push.New(push.Config{Address: "api.push.apple.com:443", MaxConnections: 4, InitialStreams: 1})
//	if err != nil { … }
//	defer c.Close(ctx)
//	c.Send(&push.Request{Method: "POST", Path: "/3/device/" + token, Header: header, Body: payload}, deadline, func(r push.Result) {
//		switch {
//		case r.Err == nil: // r.Response has the status
//		case r.Unprocessed: // surely not processed: may be sent again
//		default: // it left, and the answer was lost: sending it again may double it
//		}
//	})
//
// What it promises:
//
//   - Every Send is answered exactly once.
//   - The far end's limit of streams is followed as it changes, also down to one and to none. Another connection is
//     made only when the streams of the present ones are all in use, up to Config.MaxConnections, and not while the
//     first answer on a new one is about to allow it more (Config.InitialStreams).
//   - A request that had a bad answer can be sent again on another connection: [Client.StartElsewhere].
//   - What the far end said it did not process (above the last stream of a GOAWAY, REFUSED_STREAM) and what never left
//     is sent again by itself, a bounded number of times. What may have been processed never is.
//   - Connections are never made in a storm: see [Config.DialBurst] for the bound.
//   - Everything is bounded: the line, the streams, what is read of a response, the control frames that a far end can
//     cause.
//
// With Config.HTTP1 a far end that documents no HTTP/2 may choose HTTP/1.1: then a connection has one request at a
// time, and Config.MaxConnections is how many there may be.
//
// It is not a general HTTP client: no redirects, cookies, proxies, compression, or bodies that stream.
package push
