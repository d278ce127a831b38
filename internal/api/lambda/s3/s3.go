// Package s3 fetches objects from a server that speaks Amazon S3's protocol: code of functions and layers.
//
//	store, err := s3.Open(s3.Config{Endpoint: "http://127.0.0.1:9000"}, "us-east-1", policy)
//	archive, err := store.Get(ctx, "bucket", "folder/code.zip", "", func(n int64) error { return nil })
//
// It asks by path (ENDPOINT/BUCKET/KEY), signs with Signature Version 4 where there is a key, follows no redirect, and
// is no client for anything else.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

// Config says where objects are.
type Config struct {
	// Address of a server that speaks S3, as http://127.0.0.1:9000; "": code from S3 is refused.
	Endpoint string `yaml:"endpoint"`
	// That requests are signed for; "": the door's.
	Region string `yaml:"region"`
	// Key that requests are signed with; "": they are not signed.
	AccessKey string `yaml:"access_key"`
	// Secret of the key.
	Secret access.Secret `yaml:"secret"`
}

// Check says what is wrong with the settings.
func (c Config) Check() error {
	if c.Endpoint == "" {
		if c != (Config{}) {
			return errors.New("endpoint is missing")
		}
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("endpoint is a URL, as http://127.0.0.1:9000")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("endpoint is a URL without user, query and fragment; access_key and secret sign requests")
	case (c.AccessKey == "") != (c.Secret == ""):
		return errors.New("access_key and secret belong together")
	}
	return nil
}

// MaxBytes is how large an object may be: as large as code is unpacked.
const MaxBytes = code.UsualBytes

// Patience bounds the time of one fetch.
const Patience = 2 * time.Minute

// Error is what the server refused an object with, in S3's words.
type Error struct{ Code, Message string }

// TooLarge is the code of an object that has more than MaxBytes.
const TooLarge = "EntityTooLarge"

// Error implements error.
func (e *Error) Error() string {
	return "Error occurred while GetObject. S3 Error Code: " + e.Code + ". S3 Error Message: " + e.Message
}

// Store is a server's objects. Its methods may be called from any goroutine.
type Store struct {
	base   string
	region string
	keys   aws.Credentials
	web    *http.Client
	signer *v4.Signer
}

// Open checks the settings, and that the server may be reached; it makes no connection. nil, nil: there is no endpoint.
func Open(c Config, region string, reach *outbound.Policy) (*Store, error) {
	if err := c.Check(); err != nil || c.Endpoint == "" {
		return nil, err
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, err
	}
	if reach != nil {
		if err := reach.CheckHost(u.Hostname()); err != nil {
			return nil, fmt.Errorf("endpoint: %w", err)
		}
	}
	transport := &http.Transport{
		DialContext: reach.Dial(&net.Dialer{Timeout: 10 * time.Second}), Proxy: reach.Proxy, DisableCompression: true,
		DisableKeepAlives: true, ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	return &Store{
		base: strings.TrimSuffix(c.Endpoint, "/"), region: cmp.Or(c.Region, region),
		keys: aws.Credentials{AccessKeyID: c.AccessKey, SecretAccessKey: c.Secret.Reveal()},
		web: &http.Client{Transport: transport, Timeout: Patience,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			}},
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
	}, nil
}

// Get fetches an object, or one version of it. room is asked before its bytes are read; its error is returned. What the
// server refuses is an *Error.
func (s *Store) Get(ctx context.Context, bucket, key, version string, room func(int64) error) ([]byte, error) {
	r, err := s.request(ctx, bucket, key, version)
	if err != nil {
		return nil, err
	}
	resp, err := s.web.Do(r)
	if err != nil {
		return nil, &Error{"ServiceUnavailable",
			fmt.Sprintf("%s cannot be fetched: %v", bucket+"/"+key, withoutURL(err))}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp)
	}
	n := resp.ContentLength
	if n < 0 {
		return nil, &Error{"MissingContentLength", "the server does not say how large the object is"}
	}
	if n > MaxBytes {
		return nil, &Error{TooLarge, fmt.Sprintf("the object has %d bytes, more than %d", n, MaxBytes)}
	}
	if err := room(n); err != nil {
		return nil, err
	}
	var body bytes.Buffer
	body.Grow(int(n))
	if _, err := io.Copy(&body, resp.Body); err != nil {
		return nil, &Error{"IncompleteBody", fmt.Sprintf("%s cannot be fetched whole: %v", bucket+"/"+key,
			withoutURL(err))}
	}
	return body.Bytes(), nil
}

func (s *Store) request(ctx context.Context, bucket, key, version string) (*http.Request, error) {
	address := s.base + "/" + escaped(bucket) + "/" + escaped(key)
	if version != "" {
		address += "?versionId=" + url.QueryEscape(version)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &Error{"InvalidArgument", "this is no name of an object"}
	}
	if s.keys.AccessKeyID == "" {
		return r, nil
	}
	none := sha256.Sum256(nil)
	hash := hex.EncodeToString(none[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	if err := s.signer.SignHTTP(ctx, s.keys, r, hash, "s3", s.region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign a request to S3: %w", err)
	}
	return r, nil
}

// escaped is a name in a path as S3 signs it: everything but letters, digits, -._~ and slashes.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// refusal reads why a server refused.
func refusal(resp *http.Response) error {
	var e Error
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		err = xml.Unmarshal(text, &e)
	}
	if err != nil || e.Code == "" {
		return &Error{"Unknown", "the server answered " + resp.Status}
	}
	return &e
}

// withoutURL is an error of a request without its address, which the caller names in its own words.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
