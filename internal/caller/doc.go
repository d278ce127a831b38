// Package caller tells which account of this machine is at the other end of a connection.
//
// On Linux the kernel is asked: for TCP by an exact look-up of the other end's socket (NETLINK_SOCK_DIAG), which costs
// some ten microseconds whatever the number of connections, and for sockets of the file system by SO_PEERCRED. Other
// systems are not asked, see Supported.
//
//	end := caller.Of(conn) // asks nothing yet
//	uid, err := end.Account()
//
// It does not decide what an account may do: that is internal/access.
package caller
