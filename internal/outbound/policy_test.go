package outbound

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

func policy(t testing.TB, allow ...string) *Policy {
	t.Helper()
	p, err := New(allow)
	if err != nil {
		t.Fatal(err)
	}
	p.addresses = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("8.8.4.4"), Mask: net.CIDRMask(24, 32)}}, nil
	}
	return p
}

func TestOnlyPublicAddressesMayBeReachedUnlessMoreIsAllowed(t *testing.T) {
	p := policy(t)
	for _, text := range []string{
		"127.0.0.1", "127.255.0.9", "::1", "0.0.0.0", "::", "0.1.2.3", "169.254.1.1", "169.254.169.254", "fe80::1%eth0",
		"10.0.0.1", "172.16.0.1",
		"172.31.255.255", "192.168.0.1", "100.64.0.1", "100.127.255.255", "fc00::1", "fd00:ec2::254", "fec0::1",
		"224.0.0.1", "239.1.1.1", "240.0.0.1",
		"255.255.255.255", "ff02::1", "192.0.2.1", "198.18.0.1", "2001:db8::1", "168.63.129.16", "100.100.100.200",
		"fd20:ce::254",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
		"2002:7f00:1::", "2002:a00:1::1",
		"::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1", // translated
		"2001:0:1:2:3:4:80ff:fffe",  // Teredo, 127.0.0.1 inverted
		"8.8.4.4", "::ffff:8.8.4.4", // this machine's own
	} {
		err := p.allowed("name.example", netip.MustParseAddr(text))
		if refused := (*RefusedError)(nil); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), "name.example") || !strings.Contains(err.Error(), "outbound: allow") {
			t.Errorf("%s: %v", text, err)
		}
		if err := p.CheckHost(text); err == nil {
			t.Errorf("%s may be set", text)
		}
	}
	for _, text := range []string{
		"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "192.169.0.1", "100.63.0.1", "100.128.0.1", "169.253.1.1",
		"2606:4700:4700::1111", "2a00:1450::1",
		"64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8", "223.255.255.255",
	} {
		if err := p.allowed("name.example", netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsAllowedMayBeReachedAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		allow    string
		yes, not []string
	}{
		{"loopback", []string{"127.0.0.1", "::1", "0.0.0.0", "8.8.4.4"}, []string{"10.0.0.1", "169.254.1.1"}},
		{"private", []string{"10.0.0.1", "192.168.1.1", "fd00::1", "100.64.0.1", "64:ff9b::a00:1"},
			[]string{"127.0.0.1", "fd00:ec2::254", "100.100.100.200"}},
		{"link-local", []string{"169.254.1.1", "fe80::1"}, []string{"169.254.169.254", "10.0.0.1"}},
		{"10.1.0.0/16", []string{"10.1.2.3", "::ffff:10.1.2.3"}, []string{"10.2.0.1"}},
		{"127.0.0.1", []string{"127.0.0.1"}, []string{"127.0.0.2", "::1"}},
		{"[::1]", []string{"::1"}, []string{"127.0.0.1"}},
		{"169.254.169.254", []string{"169.254.169.254"}, []string{"169.254.169.253"}},
		{"any", []string{"127.0.0.1", "169.254.169.254", "224.0.0.1", "8.8.4.4"}, nil},
		{"public", nil, []string{"127.0.0.1"}},
	} {
		p := policy(t, c.allow)
		for _, text := range c.yes {
			if err := p.allowed("x.example", netip.MustParseAddr(text)); err != nil {
				t.Errorf("%s: %v", c.allow, err)
			}
		}
		for _, text := range c.not {
			if err := p.allowed("x.example", netip.MustParseAddr(text)); err == nil {
				t.Errorf("%s lets %s be reached", c.allow, text)
			}
		}
	}
}

func TestAllowedHostsAreComparedWhole(t *testing.T) {
	p := policy(t, "Hook.internal", "*.corp.example")
	inside := netip.MustParseAddr("10.0.0.1")
	for host, want := range map[string]bool{
		"hook.internal": true, "HOOK.INTERNAL.": true, "a.corp.example": true, "a.b.corp.example": true,
		"hook.internal.evil.example": false, "xhook.internal": false, "corp.example": false, "xcorp.example": false,
		".corp.example": false,
	} {
		if err := p.allowed(host, inside); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestNamesOfThisMachineAreRefusedWhenTheyAreSet(t *testing.T) {
	p := policy(t)
	for _, host := range []string{
		"localhost", "LOCALHOST.", "api.localhost", "[::1]", "127.1", "2130706433", "0x7f000001", "0x7F.0.0.1",
		"0177.0.0.1", "10.258", "0", "127.0.0.1.",
	} {
		if err := p.CheckHost(host); err == nil {
			t.Errorf("%s may be set", host)
		}
	}
	for _, host := range []string{"example.com", "1.example", "8.8.8.8", "127.0.0.1.example", "1.2.3.4.5",
		"256.256.256.256", "134744072", "0b1", "1_0"} {
		if err := p.CheckHost(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	var none *Policy
	if err := none.CheckHost("localhost"); err != nil {
		t.Error(err)
	}
}

func TestListsThatMeanNothingAreRefused(t *testing.T) {
	for _, entry := range []string{"", "10.0.0.0/33", "http://x", "a b", "*", "*.", "..", "internal:80",
		"::ffff:10.0.0.0/104", "1234", "*.*.x"} {
		if _, err := New([]string{entry}); !errors.Is(err, ErrAllow) {
			t.Errorf("%q: %v", entry, err)
		}
	}
	p := policy(t, "127.0.0.1")
	if err := p.Set([]string{"10.0.0.1", "a b"}); err == nil {
		t.Error("a broken list is taken")
	}
	if err := p.CheckHost("127.0.0.1"); err != nil {
		t.Errorf("a broken list changed what there was: %v", err)
	}
	if err := p.Set(nil); err != nil || p.CheckHost("127.0.0.1") == nil {
		t.Error("an emptied list still allows")
	}
}

// FuzzCheckHost holds the check of names against what Go's own dialer would connect to: what is refused there is
// refused here.
func FuzzCheckHost(f *testing.F) {
	for _, text := range []string{"127.0.0.1", "[::1]", "0x7f.1", "localhost", "fe80::1%1", "10.0.0.0/8", "*.x",
		"::ffff:a00:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := policy(t)
		err := p.CheckHost(text)
		if a, bad := netip.ParseAddr(text); bad == nil && (err == nil) != (p.allowed(text, a) == nil) {
			t.Errorf("%q: %v", text, err)
		}
		if Check(text) == nil {
			if _, err := New([]string{text}); err != nil {
				t.Error(err)
			}
		}
	})
}
