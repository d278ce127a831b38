package auth_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"testing"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
)

const (
	nativeName = "mysql_native_password"
	sha2Name   = "caching_sha2_password"
	clearName  = "mysql_clear_password"
)

func nativeProof(salt []byte) []byte {
	return vmysql.ScrambleMysqlNativePassword(salt, []byte(annSecret))
}

func sha2Proof(salt []byte) []byte {
	return vmysql.ScrambleCachingSha2Password(salt, []byte(annSecret))
}

func TestTheGreetingNamesWhatEveryClientCanRead(t *testing.T) {
	r := knock(t, open(t, auth.New(someUsers(t))), "tcp")
	if r.method != nativeName {
		t.Errorf("the greeting names %s", r.method)
	}
}

func TestAClientFromBeforeMethodsComesIn(t *testing.T) {
	r := knock(t, open(t, auth.New(someUsers(t))), "tcp")
	r.hello(flagsOld, "ann", "", nativeProof(r.salt))
	r.in("ann")
}

func TestAClientThatNamesNoMethodComesIn(t *testing.T) {
	r := knock(t, open(t, auth.New(someUsers(t))), "tcp")
	r.hello(flagsNew, "ann", "", nativeProof(r.salt))
	r.in("ann")
}

func TestAClientWithoutNativeComesIn(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	for _, way := range []string{"tcp", "unix", "tls"} {
		r := knock(t, d, way)
		r.hello(flagsNew, "ann", sha2Name, nil) // the greeting's challenge is for a method that it does not know
		r.switched(sha2Name)
		r.send(sha2Proof(r.salt))
		if p := r.more(); !bytes.Equal(p, []byte{3}) {
			t.Errorf("the proof is answered by %q", p)
		}
		r.in("ann")
	}
}

func TestAClientWithoutNativeAndPasswordComesInWhereNobodyNeedsOne(t *testing.T) {
	d := open(t, auth.New(nil))
	for _, empty := range [][]byte{nil, {0}} {
		r := knock(t, d, "tcp")
		r.hello(flagsNew, "root", sha2Name, nil)
		r.switched(sha2Name)
		r.send(empty)
		r.in("nobody")
	}
	r := knock(t, d, "tcp")
	r.hello(flagsNew, "root", sha2Name, []byte{0})
	r.in("nobody")
}

func TestAnUnknownMethodIsSwitchedToNative(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	for _, method := range []string{"client_ed25519", "dummy_fallback_auth", "mysql_old_password", "auth_gssapi_client",
		"dialog"} {
		r := knock(t, d, "tcp")
		r.hello(flagsNew, "ann", method, []byte("anything"))
		r.switched(nativeName)
		r.send(nativeProof(r.salt))
		r.in("ann")
	}
}

func TestAClearPasswordCountsOnlyWhereNobodyCanReadIt(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	for _, way := range []string{"unix", "tls"} {
		r := knock(t, d, way)
		r.hello(flagsNew, "ann", clearName, []byte(annSecret+"\x00"))
		r.in("ann")
		for _, wrong := range []string{wrongSecret + "\x00", "\x00", ""} {
			r = knock(t, d, way)
			r.hello(flagsNew, "ann", clearName, []byte(wrong))
			r.out()
		}
	}
	r := knock(t, d, "tcp")
	r.hello(flagsNew, "ann", clearName, []byte(annSecret+"\x00"))
	r.switched(nativeName)
	r.send([]byte(annSecret + "\x00"))
	r.out()

	r = knock(t, open(t, auth.New(nil)), "tcp")
	r.hello(flagsNew, "ann", clearName, []byte(annSecret+"\x00"))
	r.in("nobody")
}

func TestAWrongProofIsRefusedAtOnce(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	for _, method := range []string{nativeName, sha2Name} {
		for _, name := range []string{"ann", "eve"} {
			size := map[string]int{nativeName: 20, sha2Name: 32}[method]
			r := knock(t, d, "tcp")
			r.hello(flagsNew, name, method, bytes.Repeat([]byte{7}, size))
			r.out()
		}
	}
}

func TestAProofForAnotherChallengeIsRefused(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	seen := knock(t, d, "tcp")
	r := knock(t, d, "tcp")
	r.hello(flagsNew, "ann", nativeName, nativeProof(seen.salt))
	r.out()
	r = knock(t, d, "tcp")
	r.hello(flagsNew, "ann", sha2Name, sha2Proof(seen.salt))
	r.out()
}

// key asks for the server's key.
func (r *raw) key() *rsa.PublicKey {
	r.t.Helper()
	r.send([]byte{2})
	block, rest := pem.Decode(r.more())
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) > 0 {
		r.t.Fatalf("no key: %v", block)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		r.t.Fatal(err)
	}
	return key.(*rsa.PublicKey)
}

// sealed is a password as it is sent under a key.
func (r *raw) sealed(password string, key *rsa.PublicKey) []byte {
	r.t.Helper()
	b, err := vmysql.EncryptPasswordWithPublicKey(r.salt, []byte(password), key)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// insist sends what is no proof, so that the server asks for the password.
func insist(t *testing.T, d door, way, name string) *raw {
	t.Helper()
	r := knock(t, d, way)
	r.hello(flagsNew, name, sha2Name, []byte("no proof"))
	if p := r.more(); !bytes.Equal(p, []byte{4}) {
		t.Fatalf("the server does not ask for the password: %q", p)
	}
	return r
}

func TestAPasswordCanBeSentUnderTheServersKey(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	var first *rsa.PublicKey
	for _, way := range []string{"tcp", "unix", "tls"} { // where a key is not needed it is given all the same
		r := insist(t, d, way, "ann")
		key := r.key()
		r.send(r.sealed(annSecret, key))
		r.in("ann")
		if first == nil {
			first = key
		} else if !first.Equal(key) {
			t.Error("the key changes")
		}
		for _, wrong := range []string{wrongSecret, bobSecret} {
			r = insist(t, d, way, "ann")
			r.send(r.sealed(wrong, r.key()))
			r.out()
		}
		r = insist(t, d, way, "eve")
		r.send(r.sealed(annSecret, r.key()))
		r.out()
	}
	r := insist(t, d, "tcp", "ann") // a client that has the key from before
	r.send(r.sealed(annSecret, first))
	r.in("ann")
	r = knock(t, d, "tcp") // and one that asks for it right away
	r.hello(flagsNew, "ann", sha2Name, []byte{2})
	block, _ := pem.Decode(r.more())
	if block == nil {
		t.Fatal("no key")
	}
	r.send(r.sealed(annSecret, first))
	r.in("ann")
}

func TestAPasswordIsSentInTheClearOnlyWhereNobodyCanReadIt(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	for _, way := range []string{"unix", "tls"} {
		r := insist(t, d, way, "ann")
		r.send([]byte(annSecret + "\x00"))
		r.in("ann")
		r = insist(t, d, way, "ann")
		r.send([]byte(wrongSecret + "\x00"))
		r.out()
	}
	r := insist(t, d, "tcp", "ann")
	r.send([]byte(annSecret + "\x00"))
	r.out()
}

func TestWhatIsSentUnderAnotherKeyIsAWrongPassword(t *testing.T) {
	d := open(t, auth.New(someUsers(t)))
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	r := insist(t, d, "tcp", "ann")
	key := r.key()
	r.send(r.sealed(annSecret, &other.PublicKey))
	r.out()
	for _, garbage := range [][]byte{{}, {2}, {0}, make([]byte, 255), make([]byte, 256), make([]byte, 257),
		bytes.Repeat([]byte{0xff}, 70_000)} {
		r := insist(t, d, "tcp", "ann")
		r.key()
		r.send(garbage)
		r.out()
	}
	r = insist(t, d, "tcp", "ann") // mixed with another challenge
	r.key()
	r.salt = bytes.Repeat([]byte{'x'}, 20)
	r.send(r.sealed(annSecret, key))
	r.out()
}
