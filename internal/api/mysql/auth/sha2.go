package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// sha2 is caching_sha2_password: the client proves with SHA-256 that it knows the password, or sends it.
type sha2 struct{ server *Server }

// Name is the method's in the protocol.
func (sha2) Name() vmysql.AuthMethodDescription { return vmysql.CachingSha2Password }

// HandleUser is true, as native's is.
func (sha2) HandleUser(*vmysql.Conn, string) bool { return true }

// AllowClearTextWithoutTLS is true: who has to send the password is told how.
func (sha2) AllowClearTextWithoutTLS() bool { return true }

// AuthPluginData is a new challenge.
func (sha2) AuthPluginData() ([]byte, error) { return newChallenge() }

// HandleAuthPluginData checks the proof, or has the password sent when the client sends no proof.
func (m sha2) HandleAuthPluginData(c *vmysql.Conn, name string, challenge, answer []byte,
	remote net.Addr) (vmysql.Getter, error) {
	salt, ok := saltOf(challenge)
	if !ok {
		return nil, errBroken()
	}
	who := visitor{name: name, remote: remote, password: true}
	switch {
	case len(answer) == 0 || len(answer) == 1 && answer[0] == 0: // no password; nothing is to be said but yes or no
		who.password = false
		return m.server.admit(who, func(string) bool { return false })
	case len(answer) == sha256.Size && !m.server.sends(name):
		return m.short(c, who, salt, answer)
	}
	return m.full(c, who, salt, answer)
}

// short is the answer to a proof.
func (m sha2) short(c *vmysql.Conn, who visitor, salt, proof []byte) (vmysql.Getter, error) {
	getter, err := m.server.admit(who, fitsSha2(salt, proof))
	if err != nil {
		return nil, err
	}
	if err := sendMoreData(c, []byte{vmysql.CachingSha2FastAuth}); err != nil {
		return nil, err
	}
	return getter, nil
}

// fitsSha2 tells of secrets whether a proof fits them.
func fitsSha2(salt, proof []byte) func(secret string) bool {
	return func(secret string) bool {
		return subtle.ConstantTimeCompare(proof, vmysql.ScrambleCachingSha2Password(salt, []byte(secret))) == 1
	}
}

// full has the password sent.
func (m sha2) full(c *vmysql.Conn, who visitor, salt, answer []byte) (vmysql.Getter, error) {
	password, err := m.server.fetch(c, salt, answer)
	if err != nil {
		return nil, err
	}
	return m.server.login(who, password)
}
