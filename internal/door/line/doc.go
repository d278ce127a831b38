// Package line serves HTTP/1.1 connections whose requests are of the usual kind, a POST with a body of known and
// moderate length, with as little work as can be, and hands every other connection to net/http: a request of another
// method, a chunked or a large body, whatever is not plain. What it reads it has not answered when it hands it over, so
// that net/http serves the connection as if it had been there from its beginning, until its end.
//
// It is for doors whose clients send many small requests over connections that stay. For those, net/http spends more
// than the door itself: a read in the background of each request, timers, a new request with its headers.
//
//	s := line.New(listener, line.Config{Serve: func(x *line.Exchange) { … x.Send(…) }})
//	go s.Run()
//	go web.Serve(s.Others()) // an *http.Server for the rest
//	…
//	err := errors.Join(s.Shutdown(ctx), web.Shutdown(ctx))
//
// A request that is plain and yet none of those a door has many of is left to net/http, too: Exchange.Leave.
//
// The requests of a connection are served one after the other by the same goroutine. A Request, its headers and its
// body are good until Serve returns; the next request uses their memory.
package line
