package auth

import (
	"crypto/sha256"
	"slices"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// Exchange is how packets are exchanged with a client in the middle of a command.
type Exchange struct {
	Ask func(packet []byte) (answer []byte, err error)
	Say func(packet []byte) error
}

// Again lets a client in that has come in before, perhaps as another user. method is the one that the client has in
// mind; it gets a new challenge for it, or for the one that the user needs.
func (s *Server) Again(c *vmysql.Conn, name, method string, x Exchange) (vmysql.Getter, error) {
	if !s.users.Any() {
		return &Visitor{name: name}, nil
	}
	challenge, err := newChallenge()
	if err != nil {
		return nil, err
	}
	chosen := vmysql.MysqlNativePassword
	if method == string(vmysql.CachingSha2Password) || s.sends(name) {
		chosen = vmysql.CachingSha2Password
	}
	answer, err := x.Ask(slices.Concat([]byte{vmysql.AuthSwitchRequestPacket}, []byte(chosen), []byte{0}, challenge))
	if err != nil {
		return nil, err
	}
	if chosen == vmysql.MysqlNativePassword {
		return native{s}.HandleAuthPluginData(c, name, challenge, answer, c.RemoteAddr())
	}
	who := visitor{name: name, remote: c.RemoteAddr(), password: len(answer) > 1}
	if len(answer) == sha256.Size && !s.sends(name) {
		getter, err := s.admit(who, fitsSha2(challenge[:len(challenge)-1], answer))
		if err != nil {
			return nil, err
		}
		return getter, x.Say([]byte{vmysql.AuthMoreDataPacket, vmysql.CachingSha2FastAuth})
	}
	if !who.password {
		return s.admit(who, func(string) bool { return false })
	}
	password, err := s.sent(c, challenge[:len(challenge)-1], x)
	if err != nil {
		return nil, err
	}
	return s.login(who, password)
}

// sent has the client send its password: in the clear where nobody can read it, else under the RSA key.
func (s *Server) sent(c *vmysql.Conn, salt []byte, x Exchange) ([]byte, error) {
	answer, err := x.Ask([]byte{vmysql.AuthMoreDataPacket, vmysql.CachingSha2FullAuth})
	if err != nil {
		return nil, err
	}
	asks := len(answer) == 1 && answer[0] == keyRequest
	if !asks && secure(c) {
		return withoutZero(answer), nil
	}
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	if asks {
		text, err := keyText(&key.PublicKey)
		if err != nil {
			return nil, err
		}
		if answer, err = x.Ask(append([]byte{vmysql.AuthMoreDataPacket}, text...)); err != nil {
			return nil, err
		}
	}
	return decrypt(key, salt, answer), nil
}
