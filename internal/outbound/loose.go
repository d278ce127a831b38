package outbound

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

// looseIPv4 reads what some resolvers take for an IPv4 address: 127.1, 2130706433, 0x7f.0.0.1, 0177.0.0.1 (inet_aton's
// forms).
func looseIPv4(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var whole uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil || strings.ContainsAny(part, "_oObB") && !strings.HasPrefix(part, "0x") &&
			!strings.HasPrefix(part, "0X") {
			return netip.Addr{}, false
		}
		most := uint64(1) << 8
		if i == len(parts)-1 { // the last stands for all bytes that are left
			most = 1 << (8 * (4 - i))
		}
		if n >= most {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			whole |= n
		} else {
			whole |= n << (8 * (3 - i))
		}
	}
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], uint32(whole))
	return netip.AddrFrom4(four), true
}
