// Package auth lets clients of the MySQL door in: it is the authentication server that the protocol's library asks,
// over the one list of users that every door shares.
//
//	listener, err := vmysql.NewListenerWithConfig(vmysql.ListenerConfig{AuthServer: auth.New(users), …})
//	…
//	user := auth.UserOf(conn) // in a handler; nil without users
//
// # Methods
//
// mysql_native_password and caching_sha2_password are answered from the secret itself, which access.Users holds. So the
// short form of caching_sha2_password always works: no cache has to be warmed by sending the password first. A client
// that sends something else than the short form's proof is asked for the password: in the clear under TLS and over a
// socket of the file system, and otherwise under the RSA key that it is given. mysql_clear_password is for encrypted
// connections and sockets alone.
//
// The greeting names mysql_native_password. Every client gets in with that: MariaDB's library, and all that is made
// with it, may lack the other method and would give up on reading its name; older ones know nothing else; and MySQL 9's
// own clients, which have dropped it, begin with caching_sha2_password whatever the greeting says, and are then given a
// challenge for it.
//
// A client that says nothing of methods (Node's mysql, what was made before MySQL 5.5.7) can do mysql_native_password
// and no other. It gets in where the secret itself is kept; where some secrets are kept as hashes, those of them and
// who is unknown are answered with 1251, which says so.
//
// # Secrets
//
// Proofs are compared in constant time, and somebody unknown is treated as one whose password is wrong: the same steps,
// the same error. No error holds what a client sent, but its name. Without users everybody may come in, by any name and
// any method.
package auth
