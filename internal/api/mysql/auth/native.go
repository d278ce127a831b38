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

// HandleUser is true, but for those who have to send their password: the client is switched to caching_sha2_password for them. Whether somebody is known does
// not show.
func (m native) HandleUser(_ *vmysql.Conn, name string) bool { return !m.server.sends(name) }

// AllowClearTextWithoutTLS is true: nothing is sent in the clear.
func (native) AllowClearTextWithoutTLS() bool { return true }

// AuthPluginData is a new challenge.
func (native) AuthPluginData() ([]byte, error) { return newChallenge() }

// HandleAuthPluginData checks the proof.
func (m native) HandleAuthPluginData(_ *vmysql.Conn, name string, challenge, proof []byte, remote net.Addr) (vmysql.Getter, error) {
	salt, ok := saltOf(challenge)
	if !ok {
		return nil, errBroken()
	}
	who := visitor{name: name, remote: remote, password: len(proof) > 0}
	return m.server.admit(who, func(secret string) bool {
		return subtle.ConstantTimeCompare(proof, vmysql.ScrambleMysqlNativePassword(salt, []byte(secret))) == 1
	})
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
