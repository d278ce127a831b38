package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"sync"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
)

// keyBits is the size of the RSA key under which clients send passwords; it lives as long as the process.
const keyBits = 2048

// Server decides who comes in. It never changes; its methods may be called from any goroutine.
type Server struct {
	users   *access.Users
	key     func() (*rsa.PrivateKey, error)
	methods []vmysql.AuthMethod
}

var _ vmysql.AuthServer = (*Server)(nil)

// New makes a server for these users. Without any, everybody may come in.
//
// The RSA key is made when the first client asks for it, which few ever do.
func New(users *access.Users) *Server {
	s := &Server{users: users}
	s.key = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) })
	s.methods = []vmysql.AuthMethod{native{s}, sha2{s}, clearText{s}}
	return s
}

// AuthMethods lists the methods. The first is the one that a client is switched to when it asks for an unknown one.
func (s *Server) AuthMethods() []vmysql.AuthMethod { return s.methods }

// DefaultAuthMethodDescription is the method that the greeting names.
func (s *Server) DefaultAuthMethodDescription() vmysql.AuthMethodDescription {
	return vmysql.MysqlNativePassword
}

// admit lets somebody in whose proof fits: fits is called with the secret that the proof has to fit, or with one that
// it cannot fit. It takes the same steps for everybody.
func (s *Server) admit(who visitor, fits func(secret string) bool) (vmysql.Getter, error) {
	if !s.users.Any() {
		return &Visitor{name: who.name}, nil
	}
	user, err := s.users.Prove(context.Background(), who.attempt(), who.name, fits) // it waits for some seconds at most
	return who.letIn(user, err)
}

// login lets somebody in who has sent a password.
func (s *Server) login(who visitor, password []byte) (vmysql.Getter, error) {
	if !s.users.Any() {
		return &Visitor{name: who.name}, nil
	}
	user, err := s.users.Login(context.Background(), who.attempt(), who.name, string(password))
	return who.letIn(user, err)
}

// sends tells whether somebody has to send the password, since it cannot be proved in another way: of some secrets only
// hashes are known. When there are any such, so do those who are unknown, lest the method that is offered shows who is
// known.
func (s *Server) sends(name string) bool {
	if !s.users.AnyHashed() {
		return false
	}
	user, known := s.users.Named(name)
	return !known || user.Hashed()
}

// secure tells whether nobody on the way can read what the client sends.
func secure(c *vmysql.Conn) bool {
	return c.TLSEnabled() || local(c.Conn.LocalAddr())
}

// local tells whether an address is a socket of the file system. The library's own test looks at the listener, and so
// does not know sockets that share a listener with the network.
func local(addr net.Addr) bool { return addr != nil && addr.Network() == "unix" }
