package outbound

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// A kind says what an address is for.
type kind int

const (
	public kind = iota
	loopback
	linkLocal
	private
	metadata
	special // multicast, broadcast, unspecified, reserved
	own     // a public address that this machine has
)

// what is how errors name a kind.
var what = map[kind]string{
	loopback: "this machine", linkLocal: "link-local", private: "a private network's",
	metadata: "where clouds keep the credentials of machines",
	special:  "multicast or reserved", own: "this machine",
}

// table is looked through from its beginning: what is special within something larger comes first.
var table = []struct {
	prefix netip.Prefix
	kind   kind
}{
	{netip.MustParsePrefix("169.254.169.254/32"), metadata}, // AWS, Google, Azure, OpenStack
	{netip.MustParsePrefix("169.254.170.2/32"), metadata},   // AWS, containers
	{netip.MustParsePrefix("169.254.170.23/32"), metadata},  // AWS, pods
	{netip.MustParsePrefix("100.100.100.200/32"), metadata}, // Alibaba
	{netip.MustParsePrefix("168.63.129.16/32"), metadata},   // Azure's wire server
	{netip.MustParsePrefix("192.0.0.192/32"), metadata},     // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), metadata},      // AWS
	{netip.MustParsePrefix("fd20:ce::254/128"), metadata},   // Google
	{netip.MustParsePrefix("0.0.0.0/32"), loopback},         // connecting to it reaches this machine
	{netip.MustParsePrefix("::/128"), loopback},
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private}, // shared by a provider's customers (RFC 6598)
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("fec0::/10"), private},      // site-local, as it was (RFC 3879)
	{netip.MustParsePrefix("64:ff9b:1::/48"), private}, // translation within a network (RFC 8215)
	{netip.MustParsePrefix("0.0.0.0/8"), special},
	{netip.MustParsePrefix("192.0.0.0/24"), special},
	{netip.MustParsePrefix("192.0.2.0/24"), special},
	{netip.MustParsePrefix("198.18.0.0/15"), special},
	{netip.MustParsePrefix("198.51.100.0/24"), special},
	{netip.MustParsePrefix("203.0.113.0/24"), special},
	{netip.MustParsePrefix("224.0.0.0/3"), special}, // multicast, reserved, broadcast
	{netip.MustParsePrefix("100::/64"), special},    // discarded
	{netip.MustParsePrefix("2001:db8::/32"), special},
	{netip.MustParsePrefix("ff00::/8"), special},
}

// Forms of IPv6 addresses that packets to an IPv4 address are made from, and where it stands in them.
var embedding = []struct {
	prefix netip.Prefix
	at     int
	mask   uint32 // what it is XORed with
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12, 0},      // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 2, 0},          // 6to4 (RFC 3056)
	{netip.MustParsePrefix("2001::/32"), 12, 1<<32 - 1}, // Teredo (RFC 4380)
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, 0},   // translated (RFC 2765)
	{netip.MustParsePrefix("::/96"), 12, 0},             // compatible, as it was
}

// kindOf finds an address's kind, whatever form it is written in, but for own.
func kindOf(a netip.Addr) kind {
	a = a.Unmap().WithZone("")
	for _, t := range table {
		if t.prefix.Contains(a) {
			return t.kind
		}
	}
	for _, e := range embedding {
		if e.prefix.Contains(a) {
			return kindOf(embedded(a, e.at, e.mask))
		}
	}
	return public
}

func embedded(a netip.Addr, at int, mask uint32) netip.Addr {
	all := a.As16()
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], binary.BigEndian.Uint32(all[at:])^mask)
	return netip.AddrFrom4(four)
}

// words stand for kinds in the configuration. Cloud metadata is in none but any: who wants it names its address.
var words = map[string][]kind{
	"any":        {loopback, linkLocal, private, metadata, special, own},
	"loopback":   {loopback, own},
	"link-local": {linkLocal},
	"private":    {private},
	"public":     {}, // always
}

func (r *rules) allows(k kind) bool { return k == public || slices.Contains(r.kinds, k) }
