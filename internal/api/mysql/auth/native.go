package auth

import (
	"crypto/subtle"
	"net"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// native is mysql_native_password: the client proves with SHA-1 that it knows the password.
type native struct{ server *Server }

// Name is the method's in the protocol.
func (native) Name() vmysql.AuthMethodDescription { return vmysql.MysqlNativePassword }

// HandleUser is true, but for those who have to send their password: the client is switched to caching_sha2_password
// for them, if it can be. Whether somebody is known does not show.
func (m native) HandleUser(c *vmysql.Conn, name string) bool {
	return !m.server.sends(name) || !switches(c.Conn)
}

// AllowClearTextWithoutTLS is true: nothing is sent in the clear.
func (native) AllowClearTextWithoutTLS() bool { return true }

// AuthPluginData is a new challenge.
func (native) AuthPluginData() ([]byte, error) { return newChallenge() }

// HandleAuthPluginData checks the proof.
func (m native) HandleAuthPluginData(_ *vmysql.Conn, name string, challenge, proof []byte,
	remote net.Addr) (vmysql.Getter, error) {
	salt, ok := saltOf(challenge)
	if !ok {
		return nil, errBroken()
	}
	if m.server.sends(name) {
		return nil, errTooOld()
	}
	who := visitor{name: name, remote: remote, password: len(proof) > 0}
	return m.server.admit(who, func(secret string) bool {
		return subtle.ConstantTimeCompare(proof, vmysql.ScrambleMysqlNativePassword(salt, []byte(secret))) == 1
	})
}

// switches tells whether a client knows methods by their names, and so can be asked to use another. What is not known
// is taken for such.
func switches(conn net.Conn) bool {
	const pluginAuth = 1 << 19
	for {
		switch c := conn.(type) {
		case interface{ ClientFlags() (uint32, bool) }:
			flags, known := c.ClientFlags()
			return !known || flags&pluginAuth != 0
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return true
		}
	}
}

// errTooOld is the answer to a client that knows mysql_native_password alone, where only a hash of the secret is kept.
func errTooOld() error {
	return vmysql.NewSQLError(1251, "08004", "Client does not support authentication protocol requested by server; "+
		"consider upgrading MySQL client: it knows mysql_native_password alone, and a secret of which only a hash is "+
		"kept "+
		"cannot be checked by that (a client with caching_sha2_password can, or give the user a plain secret)")
}

// newChallenge is a salt with the zero that ends it on the wire.
func newChallenge() ([]byte, error) {
	salt, err := vmysql.NewSalt()
	return append(salt, 0), err
}

// saltOf takes the zero away again.
func saltOf(challenge []byte) (salt []byte, ok bool) {
	n := len(challenge) - 1
	if n <= 0 || challenge[n] != 0 {
		return nil, false
	}
	return challenge[:n], true
}
