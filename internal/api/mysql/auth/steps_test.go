package auth

import (
	"bytes"
	"net"
	"testing"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

func TestSomebodyUnknownTakesTheStepsOfAWrongPassword(t *testing.T) {
	s := fuzzServer(t)
	asked := map[string]string{}
	for _, name := range []string{"ann", "eve", ""} {
		_, err := s.admit(visitor{name: name}, func(secret string) bool {
			asked[name] = secret
			return name != "ann" // even a proof that fits the decoy counts for nothing
		})
		if err == nil {
			t.Errorf("%q was let in", name)
		}
	}
	if len(asked) != 3 || asked["ann"] != fuzzSecret || asked["eve"] == fuzzSecret || asked["eve"] != asked[""] ||
		len(asked["eve"]) < 20 {
		t.Errorf("the proofs were held against %d secrets", len(asked))
	}
}

func TestTheRefusalSaysWhoFromWhere(t *testing.T) {
	for _, c := range []struct {
		remote net.Addr
		want   string
	}{
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 3306},
			"Access denied for user 'ann'@'192.0.2.7' (using password: YES)"},
		{&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 3306},
			"Access denied for user 'ann'@'2001:db8::1' (using password: YES)"},
		{&net.UnixAddr{Name: "@", Net: "unix"}, "Access denied for user 'ann'@'localhost' (using password: YES)"},
		{&net.IPAddr{IP: net.IPv4(192, 0, 2, 7)}, "Access denied for user 'ann'@'192.0.2.7' (using password: YES)"},
		{nil, "Access denied for user 'ann'@'localhost' (using password: YES)"},
	} {
		err := visitor{name: "ann", remote: c.remote, password: true}.denied().(*vmysql.SQLError)
		if err.Num != 1045 || err.State != "28000" || err.Message != c.want {
			t.Errorf("%v: %v", c.remote, err)
		}
	}
}

func TestAVisitorIsWhoTheHandlerGets(t *testing.T) {
	s := fuzzServer(t)
	getter, err := s.admit(visitor{name: "ann"}, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	v := getter.(*Visitor)
	if v.Name() != "ann" || v.User().Name != "ann" || v.Get().Username != "ann" {
		t.Errorf("%+v", v.Get())
	}
	if UserOf(&vmysql.Conn{UserData: v}) != v.User() || UserOf(&vmysql.Conn{}) != nil {
		t.Error("UserOf finds somebody else")
	}
	getter, err = New(nil).admit(visitor{name: "x"}, nil)
	if err != nil || getter.(*Visitor).User() != nil || getter.(*Visitor).Name() != "x" {
		t.Errorf("without users: %v, %v", getter, err)
	}
}

func TestChallengesAreNeverTheSame(t *testing.T) {
	for _, m := range []vmysql.AuthMethod{native{}, sha2{}} {
		one, err := m.AuthPluginData()
		if err != nil || len(one) != 21 || one[20] != 0 || bytes.IndexByte(one[:20], 0) >= 0 {
			t.Errorf("%s: %q, %v", m.Name(), one, err)
		}
		if two, _ := m.AuthPluginData(); bytes.Equal(one, two) {
			t.Errorf("%s: %q twice", m.Name(), one)
		}
	}
}
