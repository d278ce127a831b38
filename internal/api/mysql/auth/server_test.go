package auth_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// The users of the tests. One secret is longer than a block of the hashes.
const (
	annSecret = "open sesame"
	bobSecret = "a passphrase that is longer than sixty-four bytes, so that hashing it takes more than one block: " +
		"ünïcode"
)

func someUsers(t testing.TB) *access.Users {
	t.Helper()
	users, err := access.New([]access.User{{Name: "ann", Secret: annSecret}, {Name: "bob", Secret: bobSecret}})
	if err != nil {
		t.Fatal(err)
	}
	return users
}

// said is everything that the protocol's library logs in these tests.
var said logged

type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// TestMain looks through the log in the end: whatever the tests tried, no secret may be in it.
func TestMain(m *testing.M) {
	log.SetOutput(&said)
	code := m.Run()
	for _, secret := range []string{annSecret, bobSecret, wrongSecret} {
		if strings.Contains(said.text.String(), secret) {
			fmt.Fprintf(os.Stderr, "the log shows the secret %q\n", secret)
			code = 1
		}
	}
	os.Exit(code)
}

// handler answers who with the user's name, set with nothing, and everything else with 1.
type handler struct{}

func (handler) NewConnection(*vmysql.Conn)                   {}
func (handler) ConnectionClosed(*vmysql.Conn)                {}
func (handler) ConnectionAborted(*vmysql.Conn, string) error { return nil }
func (handler) ComInitDB(*vmysql.Conn, string) error         { return nil }
func (handler) WarningCount(*vmysql.Conn) uint16             { return 0 }
func (handler) ComResetConnection(*vmysql.Conn) error        { return nil }
func (handler) ConnectionAuthenticated(c *vmysql.Conn) error { return ready(c) }
func (handler) ParserOptionsForConnection(*vmysql.Conn) (sqlparser.ParserOptions, error) {
	return sqlparser.ParserOptions{}, nil
}

func ready(c *vmysql.Conn) error {
	conn, ok := link.Of(c.Conn)
	if !ok {
		return errors.New("the connection is not found")
	}
	conn.Ready()
	return nil
}

func (handler) ComQuery(_ context.Context, c *vmysql.Conn, query string, result vmysql.ResultSpoolFn) error {
	text := "1"
	if strings.HasPrefix(strings.ToLower(query), "set ") { // as drivers do on connecting
		return result(&sqltypes.Result{}, false)
	}
	if query == "who" {
		text = "nobody"
		if user := auth.UserOf(c); user != nil {
			text = user.Name
		}
	}
	return result(&sqltypes.Result{
		Fields: []*querypb.Field{{Name: query, Type: sqltypes.VarChar, Charset: vmysql.CharacterSetUtf8}},
		Rows:   [][]sqltypes.Value{{sqltypes.NewVarChar(text)}},
	}, false)
}

func (h handler) ComMultiQuery(ctx context.Context, c *vmysql.Conn, query string, result vmysql.ResultSpoolFn) (string,
	error) {
	return "", h.ComQuery(ctx, c, query, result)
}

func (handler) ComPrepare(context.Context, *vmysql.Conn, string, *vmysql.PrepareData) ([]*querypb.Field, error) {
	return nil, errors.New("nothing is prepared here")
}

func (handler) ComStmtExecute(context.Context, *vmysql.Conn, *vmysql.PrepareData, func(*sqltypes.Result) error) error {
	return errors.New("nothing is executed here")
}

// door is a running server.
type door struct{ tcp, socket string }

// open runs a server with TLS on a port and a socket.
func open(t testing.TB, server vmysql.AuthServer) door {
	t.Helper()
	return openFor(t, server, time.Minute)
}

// openFor is open with a handshake that may take no longer.
func openFor(t testing.TB, server vmysql.AuthServer, handshake time.Duration) door {
	t.Helper()
	dir, err := os.MkdirTemp("", "auth") // short enough for a socket, whatever the test is called
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := door{socket: filepath.Join(dir, "s")}
	l, err := link.Listen(t.Context(), link.Config{TCP: "127.0.0.1:0", Socket: d.socket, Handshake: handshake})
	if err != nil {
		t.Fatal(err)
	}
	d.tcp = l.Addr().String()
	listener, err := vmysql.NewListenerWithConfig(vmysql.ListenerConfig{
		Listener: l, AuthServer: server, Handler: handler{}, ConnReadBufferSize: vmysql.DefaultConnBufferSize,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		listener.Accept()
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return d
}

func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// greeting is a server whose greeting names another method, so that drivers that follow it use that.
type greeting struct {
	*auth.Server
	method vmysql.AuthMethodDescription
}

func (g greeting) DefaultAuthMethodDescription() vmysql.AuthMethodDescription { return g.method }

// forgetful is a server for which no short proof counts, as for one whose cache is cold: it shows what drivers do then.
type forgetful struct{ greeting }

func (f forgetful) AuthMethods() []vmysql.AuthMethod {
	var methods []vmysql.AuthMethod
	for _, m := range f.greeting.AuthMethods() {
		methods = append(methods, deaf{m})
	}
	return methods
}

type deaf struct{ vmysql.AuthMethod }

func (d deaf) HandleAuthPluginData(c *vmysql.Conn, name string, challenge, answer []byte,
	remote net.Addr) (vmysql.Getter, error) {
	if d.Name() == vmysql.CachingSha2Password && len(answer) > 1 {
		answer = answer[:len(answer)-1]
	}
	return d.AuthMethod.HandleAuthPluginData(c, name, challenge, answer, remote)
}
