// Package sign signs requests by AWS Signature Version 4, for our own client of a door that has users. What checks
// signatures is package access/sigv4.
package sign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Request signs r, whose whole body is given, by setting its headers. Its host, method, path, query and the date are
// signed.
func Request(r *http.Request, body []byte, key, secret, region, service string, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	day := stamp[:8]
	r.Header.Set("X-Amz-Date", stamp)
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	const signed = "host;x-amz-date"
	canonical := strings.Join([]string{
		r.Method, escapedPath(r.URL), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"),
		"host:" + host, "x-amz-date:" + stamp, "", signed, hashed(body),
	}, "\n")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hashed([]byte(canonical))
	k := []byte("AWS4" + secret)
	for _, part := range []string{day, region, service, "aws4_request"} {
		k = sum(k, part)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/"+scope+", SignedHeaders="+signed+", Signature="+
		hex.EncodeToString(sum(k, text)))
}

// escapedPath is the path as it is sent, escaped once more: so services other than S3 have it.
func escapedPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	return strings.Join(segments, "/")
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hashed(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
