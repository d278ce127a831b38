package q4m

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// lightLine speaks just so much of MySQL's protocol that a benchmark can be driven with it: a statement is written with
// one system call, its answer is read, and of the answer only the first value is looked at. Where server and clients
// share a machine, what the clients cost is missing to the server, and many of them would measure themselves. It knows
// neither TLS nor packets of 16 MB.
type lightLine struct {
	conn     net.Conn
	in       *bufio.Reader
	stop     func() bool // of the context's end
	packet   []byte      // the last one that was read, until the next one
	out      []byte      // the one that is being written
	sequence byte
	prepared uint32
}

// What a client says that it can.
const (
	canLongPassword = 1 << 0
	canConnectDB    = 1 << 3
	canProtocol41   = 1 << 9
	canTransactions = 1 << 13
	canSecure       = 1 << 15
	canPluginAuth   = 1 << 19
	lightCan        = canLongPassword | canConnectDB | canProtocol41 | canTransactions | canSecure | canPluginAuth
)

// The commands and the first bytes of answers.
const (
	comQuery   = 0x03
	comPing    = 0x0e
	comPrepare = 0x16
	comExecute = 0x17

	answerOK     = 0x00
	answerMore   = 0x01
	answerNull   = 0xfb
	answerEnd    = 0xfe
	answerFailed = 0xff
)

const utf8mb4 = 45 // the number of the collation utf8mb4_general_ci

// openLight connects and signs in. The line is closed when ctx ends.
func openLight(ctx context.Context, to *mysql.Config) (*lightLine, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	conn, err := d.DialContext(ctx, to.Net, to.Addr)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	l := &lightLine{conn: conn, in: bufio.NewReaderSize(conn, 32<<10)}
	l.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if err := l.signIn(to); err != nil {
		return nil, errors.Join(fmt.Errorf("sign in at %s: %w", to.Addr, err), l.Close())
	}
	return l, nil
}

func (l *lightLine) Close() error {
	l.stop()
	return l.conn.Close()
}

// read reads a packet. It is overwritten by the next one.
func (l *lightLine) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return nil, err
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	l.sequence = head[3] + 1
	if n == 0 || n == 1<<24-1 {
		return nil, fmt.Errorf("%w: a packet of %d bytes", harness.ErrProtocol, n)
	}
	if cap(l.packet) < n {
		l.packet = make([]byte, n)
	}
	l.packet = l.packet[:n]
	if _, err := io.ReadFull(l.in, l.packet); err != nil {
		return nil, err
	}
	if l.packet[0] == answerFailed {
		return nil, failure(l.packet)
	}
	return l.packet, nil
}

// failure is the error of an error packet, of the same type as go-sql-driver's.
func failure(p []byte) error {
	if len(p) < 3 {
		return harness.ErrProtocol
	}
	e := &mysql.MySQLError{Number: binary.LittleEndian.Uint16(p[1:])}
	if p = p[3:]; len(p) >= 6 && p[0] == '#' {
		copy(e.SQLState[:], p[1:6])
		p = p[6:]
	}
	e.Message = string(p)
	return e
}

// begin begins a packet, the first one of a command.
func (l *lightLine) begin(command byte) {
	l.sequence = 0
	l.out = append(l.out[:0], 0, 0, 0, 0, command)
}

// send writes the packet that was put together in out.
func (l *lightLine) send() error {
	n := len(l.out) - 4
	l.out[0], l.out[1], l.out[2], l.out[3] = byte(n), byte(n>>8), byte(n>>16), l.sequence
	_, err := l.conn.Write(l.out)
	return err
}

// signIn answers the server's greeting.
func (l *lightLine) signIn(to *mysql.Config) error {
	greeting, err := l.read()
	if err != nil {
		return err
	}
	salt, plugin, err := readGreeting(greeting)
	if err != nil {
		return err
	}
	token, err := secretToken(plugin, to.Passwd, salt)
	if err != nil {
		return err
	}
	l.out = append(l.out[:0], 0, 0, 0, 0)
	l.out = binary.LittleEndian.AppendUint32(l.out, lightCan)
	l.out = binary.LittleEndian.AppendUint32(l.out, 1<<24-1)
	l.out = append(l.out, utf8mb4)
	l.out = append(l.out, make([]byte, 23)...)
	l.out = append(append(l.out, to.User...), 0)
	l.out = append(append(l.out, byte(len(token))), token...)
	l.out = append(append(l.out, to.DBName...), 0)
	l.out = append(append(l.out, plugin...), 0)
	for {
		if err := l.send(); err != nil {
			return err
		}
		if token, err = l.accepted(to.Passwd); err != nil || token == nil {
			return err
		}
		l.out = append(append(l.out[:0], 0, 0, 0, 0), token...)
	}
}

// accepted reads what the server says to a secret: nothing more is to be sent, or the secret in another form.
func (l *lightLine) accepted(password string) (token []byte, err error) {
	for {
		p, err := l.read()
		if err != nil {
			return nil, err
		}
		switch p[0] {
		case answerOK:
			return nil, nil
		case answerEnd:
			plugin, rest, _ := cutZero(p[1:])
			token, err := secretToken(string(plugin), password, rest[:min(len(rest), 20)])
			if err == nil && token == nil {
				token = []byte{}
			}
			return token, err
		case answerMore:
			if len(p) < 2 || p[1] != 3 { // 3: the server knows the password already
				return nil, errors.New("the server wants the password itself, over TLS: use an account with " +
					"mysql_native_password")
			}
		default:
			return nil, harness.ErrProtocol
		}
	}
}

// readGreeting finds what the secret is to be mixed with, and how.
func readGreeting(p []byte) (salt []byte, plugin string, err error) {
	_, p, ok := cutZero(p[1:]) // the version of the server
	if !ok || len(p) < 32 {
		return nil, "", harness.ErrProtocol
	}
	salt = append(salt, p[4:12]...)
	p = p[31:]
	salt = append(salt, p[:min(len(p), 12)]...)
	if len(salt) != 20 {
		return nil, "", harness.ErrProtocol
	}
	name, _, _ := cutZero(p[min(len(p), 13):])
	return salt, string(name), nil
}

// cutZero cuts a text from its zero.
func cutZero(p []byte) (text, rest []byte, ok bool) {
	for i, b := range p {
		if b == 0 {
			return p[:i], p[i+1:], true
		}
	}
	return p, nil, false
}

// secretToken shows that the password is known without showing it.
func secretToken(plugin, password string, salt []byte) ([]byte, error) {
	if password == "" {
		return nil, nil
	}
	switch plugin {
	case "mysql_native_password", "":
		inner := sha1.Sum([]byte(password))
		twice := sha1.Sum(inner[:])
		mixed := sha1.Sum(append(append([]byte{}, salt...), twice[:]...))
		return xor(inner[:], mixed[:]), nil
	case "caching_sha2_password":
		inner := sha256.Sum256([]byte(password))
		twice := sha256.Sum256(inner[:])
		mixed := sha256.Sum256(append(twice[:], salt...))
		return xor(inner[:], mixed[:]), nil
	}
	return nil, fmt.Errorf("the server asks for %s, which this client does not know: use an account with "+
		"mysql_native_password", plugin)
}

func xor(a, b []byte) []byte {
	for i := range a {
		a[i] ^= b[i]
	}
	return a
}
