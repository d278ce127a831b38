package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// InvocationID is the header in which AWS SDKs give each call an id, the same for each of its tries.
const InvocationID = "Amz-Sdk-Invocation-Id"

// A signature is what a request says about how it is signed.
type signature struct {
	accessKey, day, region, service string

	headers   []string // names of those that are signed, in lower case and sorted
	sum       [sha256.Size]byte
	time      time.Time
	presigned bool
	expires   time.Duration // of a presigned one
	query     url.Values
}

// maxHeaders bounds how many headers may be signed.
const maxHeaders = 100

// parse reads the signature of a request.
func parse(r *http.Request) (*signature, *Error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, incomplete("The query string is not valid: %s", shorten(err.Error()))
	}
	s := &signature{query: query}
	authorization := r.Header.Get("Authorization")
	switch {
	case authorization != "":
		return s, s.fromHeader(r, authorization)
	case query.Has("X-Amz-Algorithm") || query.Has("X-Amz-Signature"):
		return s, s.fromQuery(r, query)
	}
	return nil, missing()
}

// fromHeader reads a header Authorization.
func (s *signature) fromHeader(r *http.Request, authorization string) *Error {
	scheme, rest, _ := strings.Cut(authorization, " ")
	if scheme != algorithm {
		return incomplete("Authorization header has to begin with %s (Signature Version 4), not with '%s'", algorithm,
			shorten(scheme))
	}
	var credential, headers, sum string
	for part := range strings.SplitSeq(rest, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return incomplete("'%s' not a valid key=value pair (missing equal-sign) in Authorization header",
				shorten(part))
		}
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			headers = value
		case "Signature":
			sum = value
		}
	}
	var lacks []string
	for _, part := range []struct{ name, value string }{{"Credential", credential}, {"Signature", sum},
		{"SignedHeaders", headers}} {
		if part.value == "" {
			lacks = append(lacks, "Authorization header requires '"+part.name+"' parameter.")
		}
	}
	date := r.Header.Get("X-Amz-Date")
	if date == "" && r.Header.Get("Date") == "" {
		lacks = append(lacks, "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
	}
	if len(lacks) > 0 {
		return incomplete("%s", strings.Join(lacks, " "))
	}
	if date != "" {
		if !s.setTime(date) {
			return incomplete("Date must be in ISO-8601 'basic format'. Got '%s'. See "+
				"http://en.wikipedia.org/wiki/ISO_8601", shorten(date))
		}
	} else if t, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		s.time = t.UTC()
	} else if !s.setTime(r.Header.Get("Date")) {
		return incomplete("Date header has to be a time of HTTP or of ISO 8601. Got '%s'",
			shorten(r.Header.Get("Date")))
	}
	return s.fill(r, credential, headers, sum)
}

// fromQuery reads the parameters of a presigned request.
func (s *signature) fromQuery(r *http.Request, query url.Values) *Error {
	s.presigned = true
	var lacks []string
	for _, name := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders",
		"X-Amz-Date", "X-Amz-Expires"} {
		if query.Get(name) == "" {
			lacks = append(lacks, "AWS query-string parameters must include '"+name+"'.")
		}
	}
	if len(lacks) > 0 {
		return incomplete("%s", strings.Join(lacks, " "))
	}
	if got := query.Get("X-Amz-Algorithm"); got != algorithm {
		return incomplete("X-Amz-Algorithm has to be %s, not '%s'", algorithm, shorten(got))
	}
	if date := query.Get("X-Amz-Date"); !s.setTime(date) {
		return incomplete("X-Amz-Date must be in ISO-8601 'basic format'. Got '%s'", shorten(date))
	}
	seconds, err := strconv.ParseUint(query.Get("X-Amz-Expires"), 10, 32)
	if err != nil || seconds == 0 || time.Duration(seconds)*time.Second > MaxExpires {
		return incomplete("X-Amz-Expires has to be a number of seconds from 1 to %d. Got '%s'",
			int(MaxExpires/time.Second), shorten(query.Get("X-Amz-Expires")))
	}
	s.expires = time.Duration(seconds) * time.Second
	return s.fill(r, query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders"), query.Get("X-Amz-Signature"))
}

func (s *signature) setTime(text string) bool {
	t, err := time.Parse(timeLayout, text)
	s.time = t
	return err == nil
}

// fill takes the parts that both forms have apart.
func (s *signature) fill(r *http.Request, credential, headers, sum string) *Error {
	// An access key may have slashes; the scope behind it has none.
	parts := strings.Split(credential, "/")
	if len(parts) < 5 {
		return incomplete("Credential must have at least 5 slash-delimited elements, e.g. "+
			"keyid/date/region/service/term, got '%s'", shorten(credential))
	}
	scope := parts[len(parts)-4:]
	s.accessKey = strings.Join(parts[:len(parts)-4], "/")
	s.day, s.region, s.service = scope[0], scope[1], scope[2]
	if scope[3] != terminator {
		return mismatch("Credential should be scoped with a valid terminator: '" + terminator + "', not '" +
			shorten(scope[3]) + "'.")
	}
	s.headers = strings.Split(headers, ";")
	if len(s.headers) > maxHeaders {
		return incomplete("More than %d headers are signed", maxHeaders)
	}
	if !slices.Contains(s.headers, "host") {
		return mismatch("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
	}
	if !slices.IsSorted(s.headers) || strings.ToLower(headers) != headers {
		return incomplete("SignedHeaders have to be in lower case and sorted, got '%s'", shorten(headers))
	}
	// The action of a JSON protocol stands in a header: unsigned, it could be exchanged for another.
	if len(r.Header["X-Amz-Target"]) > 0 && !slices.Contains(s.headers, "x-amz-target") {
		return mismatch("'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.")
	}
	if n, err := hex.Decode(s.sum[:], []byte(sum[:min(len(sum), 2*len(s.sum))])); err != nil || n != len(s.sum) ||
		len(sum) != 2*n {
		return wrongSignature()
	}
	return nil
}
