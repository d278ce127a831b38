package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// stringToSign is what the client signed: the algorithm, the time, the scope, and the hash of the canonical request.
func (s *signature) stringToSign(r *http.Request, path, payload string) []byte {
	hash := sha256.Sum256(s.canonicalRequest(r, path, payload))
	text := make([]byte, 0, 256)
	text = append(text, algorithm+"\n"...)
	text = s.time.AppendFormat(text, timeLayout)
	text = append(text, '\n')
	for _, part := range []string{s.day, s.region, s.service} {
		text = append(text, part...)
		text = append(text, '/')
	}
	text = append(text, terminator+"\n"...)
	return hex.AppendEncode(text, hash[:])
}

// canonicalRequest writes the request in the one way that client and server have to agree on.
func (s *signature) canonicalRequest(r *http.Request, path, payload string) []byte {
	text := make([]byte, 0, 1024)
	text = append(text, r.Method...)
	text = append(text, '\n')
	text = append(text, path...)
	text = append(text, '\n')
	text = s.appendQuery(text)
	text = append(text, '\n')
	for _, name := range s.headers {
		text = append(text, name...)
		text = append(text, ':')
		text = appendHeader(text, r, name)
		text = append(text, '\n')
	}
	text = append(text, '\n')
	for i, name := range s.headers {
		if i > 0 {
			text = append(text, ';')
		}
		text = append(text, name...)
	}
	text = append(text, '\n')
	return append(text, payload...)
}

// appendQuery appends the query string with its parameters ordered and escaped anew, without the signature itself.
func (s *signature) appendQuery(dst []byte) []byte {
	if len(s.query) == 0 {
		return dst
	}
	var pairs []string
	for name, values := range s.query {
		if s.presigned && name == "X-Amz-Signature" {
			continue
		}
		for _, value := range values {
			pair := appendEscaped(nil, name, false)
			pair = append(pair, '=')
			pairs = append(pairs, string(appendEscaped(pair, value, false)))
		}
	}
	// By name and then value: = is less than every character that an escaped name has, but for - . and digits.
	slices.SortFunc(pairs, func(a, b string) int {
		aName, aValue, _ := strings.Cut(a, "=")
		bName, bValue, _ := strings.Cut(b, "=")
		if aName != bName {
			return strings.Compare(aName, bName)
		}
		return strings.Compare(aValue, bValue)
	})
	for i, pair := range pairs {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, pair...)
	}
	return dst
}

// appendHeader appends the values of a header: without spaces around, inner runs of spaces as one, several joined by
// commas.
func appendHeader(dst []byte, r *http.Request, name string) []byte {
	switch name {
	case "host":
		return append(dst, r.Host...) // net/http takes it out of the headers
	case "content-length":
		if len(r.Header["Content-Length"]) == 0 && r.ContentLength >= 0 {
			return strconv.AppendInt(dst, r.ContentLength, 10)
		}
	}
	for i, value := range r.Header[http.CanonicalHeaderKey(name)] {
		if i > 0 {
			dst = append(dst, ',')
		}
		space := false
		for _, c := range []byte(strings.Trim(value, " \t")) {
			if c == ' ' && space {
				continue
			}
			space = c == ' '
			dst = append(dst, c)
		}
	}
	return dst
}

// canonicalPaths returns how the path may stand in the canonical request. Signers for every service but S3 escape the
// path as it is sent once more; others, curl among them, take it as it is sent. For most paths that is the same, and n
// is 1.
func canonicalPaths(r *http.Request) (paths [2]string, n int) {
	sent := r.URL.EscapedPath()
	if sent == "" {
		sent = "/"
	}
	again := string(appendEscaped(nil, sent, true))
	if again == sent {
		return [2]string{sent}, 1
	}
	return [2]string{again, sent}, 2
}

// appendEscaped appends a text with everything but A–Z a–z 0–9 - _ . ~ escaped, and / kept in paths.
func appendEscaped(dst []byte, text string, path bool) []byte {
	const hexadecimal = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~',
			path && c == '/':
			dst = append(dst, c)
		default:
			dst = append(dst, '%', hexadecimal[c>>4], hexadecimal[c&15])
		}
	}
	return dst
}
