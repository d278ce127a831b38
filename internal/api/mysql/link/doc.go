// Package link is what the MySQL door listens on: one listener for a TCP address and a socket in the file system, whose
// connections end what does not go on, and tell a busy handler at once that its client went away.
//
// It knows nothing of SQL, and of the protocol only that a connection begins with a handshake. Encryption is made above
// it: wrap a Conn with tls.Server, and Of finds it again.
//
//	listener, err := link.Listen(ctx, link.Config{TCP: "127.0.0.1:3306", Socket: "/run/hikyaku/mysql.sock"})
//	…
//	conn, err := listener.Accept() // always a *link.Conn
//	…
//	link, _ := link.Of(conn)
//	link.Ready() // the handshake is over
//	ctx, stop := link.WatchContext(ctx)
//	defer stop()
//	wait(ctx) // canceled as soon as the client is gone
//
// What ends a connection:
//
//   - a handshake that is not finished in time (Config.Handshake), or that sends more than any handshake does;
//   - a client that takes nothing of what is written to it (Config.Stall);
//   - a dead network, in about a minute: TCP keepalive finds it on an idle connection, and on Linux TCP_USER_TIMEOUT
//     where something was sent that nobody acknowledged.
//
// A server must not put time-outs of its own around these connections: they would hide the Conn from Of, and fight its
// deadlines.
package link
