package wire

// staticNames are the names of RFC 7541's static table from index 15 on; those before are pseudo-header fields, which
// the encoder knows by number.
var staticNames = [...]string{
	"accept-charset", "accept-encoding", "accept-language", "accept-ranges", "accept", "access-control-allow-origin",
	"age",
	"allow", "authorization", "cache-control", "content-disposition", "content-encoding", "content-language",
	"content-length",
	"content-location", "content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from", "host",
	"if-match",
	"if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "link", "location",
	"max-forwards",
	"proxy-authenticate", "proxy-authorization", "range", "referer", "refresh", "retry-after", "server", "set-cookie",
	"strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "www-authenticate",
}

const (
	staticLen       = 61
	firstStaticName = 15

	indexAuthority  = 1
	indexMethodGet  = 2
	indexMethodPost = 3
	indexPath       = 4
	indexHTTP       = 6
	indexHTTPS      = 7
)

// staticIndex is the index of a name in the static table, or 0.
func staticIndex(name string) uint64 {
	if name == ":authority" {
		return indexAuthority
	}
	for i, n := range staticNames {
		if n == name {
			return uint64(i + firstStaticName)
		}
	}
	return 0
}
