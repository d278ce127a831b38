package auth

import (
	"errors"
	"net"

	vmysql "github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Visitor is one who was let in: the UserData of a connection.
type Visitor struct {
	name string
	user *access.User
}

// Name is the name that the client gave: the user's, or anything when there are no users.
func (v *Visitor) Name() string { return v.name }

// User is who it is; nil when there are no users.
func (v *Visitor) User() *access.User { return v.user }

// Get makes a Visitor a vmysql.Getter.
func (v *Visitor) Get() *querypb.VTGateCallerID { return &querypb.VTGateCallerID{Username: v.name} }

// UserOf is the user of a connection; nil when there are no users, and before anybody was let in.
func UserOf(c *vmysql.Conn) *access.User {
	if v, ok := c.UserData.(*Visitor); ok {
		return v.user
	}
	return nil
}

// visitor is one who asks to come in.
type visitor struct {
	name     string
	remote   net.Addr
	password bool // whether one was given, right or wrong
}

// shownName is how much of a name an error repeats: the most that a name has in MySQL, with room for wide letters.
const shownName = 96

// denied is the answer to everybody who is not let in, in the words that clients and people know from MySQL.
func (v visitor) denied() error {
	using := "NO"
	if v.password {
		using = "YES"
	}
	return vmysql.NewSQLError(vmysql.ERAccessDeniedError, vmysql.SSAccessDeniedError,
		"Access denied for user '%.*s'@'%s' (using password: %s)", shownName, v.name, v.host(), using)
}

// attempt is who asks, for the list of users.
func (v visitor) attempt() access.Attempt {
	a := access.Attempt{Door: "mysql"}
	if v.remote != nil && !local(v.remote) {
		a.Address = v.remote.String()
	}
	return a
}

// letIn is the answer to one whose login was looked at.
func (v visitor) letIn(user *access.User, err error) (vmysql.Getter, error) {
	var slow *access.SlowError
	switch {
	case err == nil:
		return &Visitor{name: v.name, user: user}, nil
	case errors.As(err, &slow):
		return nil, vmysql.NewSQLError(vmysql.ERAccessDeniedError, vmysql.SSAccessDeniedError,
			"Access denied for user '%.*s'@'%s': %s", shownName, v.name, v.host(), slow.Error())
	}
	return nil, v.denied()
}

// host is where the visitor comes from, without the port, which means nothing to anybody.
func (v visitor) host() string {
	if v.remote == nil || local(v.remote) {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(v.remote.String())
	if err != nil {
		return v.remote.String()
	}
	return host
}

// errBroken is the answer to a packet that ends early or cannot be one.
func errBroken() error {
	const badHandshake = 1043 // ER_HANDSHAKE_ERROR
	return vmysql.NewSQLError(badHandshake, vmysql.SSNetError, "Bad handshake")
}
