package auth

import (
	"net"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// clearText is mysql_clear_password: the client sends the password.
type clearText struct{ server *Server }

// Name is the method's in the protocol.
func (clearText) Name() vmysql.AuthMethodDescription { return vmysql.MysqlClearPassword }

// HandleUser is false where others could read the password; then a client that asks for this method is switched to
// another. Without users there is no password that matters.
func (m clearText) HandleUser(c *vmysql.Conn, _ string) bool {
	return secure(c) || !m.server.users.Any()
}

// AllowClearTextWithoutTLS is true: HandleUser decides, which knows of sockets.
func (clearText) AllowClearTextWithoutTLS() bool { return true }

// AuthPluginData is nothing: there is no challenge.
func (clearText) AuthPluginData() ([]byte, error) { return nil, nil }

// HandleAuthPluginData checks the password.
func (m clearText) HandleAuthPluginData(_ *vmysql.Conn, name string, _, answer []byte, remote net.Addr) (vmysql.Getter,
	error) {
	password := withoutZero(answer)
	who := visitor{name: name, remote: remote, password: len(password) > 0}
	return m.server.login(who, password)
}
