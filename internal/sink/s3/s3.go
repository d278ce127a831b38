// Package s3 is a sink that stores batches of messages as objects of a server that speaks Amazon S3's protocol.
//
//	sinks:
//	  archive:
//	    type: s3
//	    inputs: [shape]
//	    endpoint: http://127.0.0.1:9000      # not set: Amazon's
//	    bucket: logs
//	    access_key: "${AWS_ACCESS_KEY_ID}"
//	    secret: "${AWS_SECRET_ACCESS_KEY}"
//	    key: "%Y/%m/%d/{host}/"
//	    compression: zstd
//	    batch: { max_bytes: 10MB, max_events: 100000, timeout_secs: 60 }
//
// How large an object becomes is the pipeline's batch: what of one has the same key is one object. Its messages are
// settled when it is stored.
//
// The end of an object's name is computed from what is in it, so that the same batch is the same object. Where the
// answer of a request was lost, the sink looks whether the object is there before it stores its messages in another.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// Config is the sink's settings.
type Config struct {
	// Endpoint is the server, as https://host:port. "": Amazon's for the region.
	Endpoint string `yaml:"endpoint"`
	// Region that requests are signed for. "": us-east-1.
	Region string `yaml:"region"`
	// Bucket that objects are stored in. It has to be there.
	Bucket string `yaml:"bucket"`
	// AccessKey that requests are signed with.
	AccessKey string `yaml:"access_key"`
	// Secret of the key.
	Secret access.Secret `yaml:"secret"`
	// SessionToken of a key that was lent for a while.
	SessionToken access.Secret `yaml:"session_token"`
	TLS          secure.TLS    `yaml:"tls" doc:"How the server is known and how we make ourselves known, where the endpoint is https."`
	// Key is what names of objects begin with. {name} in it is an attribute, in which slashes become _; %Y, %m, %d and
	// the like are the message's time. "": %Y/%m/%d/.
	Key string `yaml:"key"`
	// Payload is "lines" (a message a line) or "array" (a JSON array). "": lines.
	Payload string `yaml:"payload" oneof:"lines array"`
	// Encoding of a message. Not set: its body as it is.
	Encoding lines.Encoding `yaml:"encoding"`
	// Compression of objects: "none", "gzip" or "zstd". "": none.
	Compression string `yaml:"compression" oneof:"none gzip zstd"`
}

const (
	usualRegion = "us-east-1"
	usualKey    = "%Y/%m/%d/"
	lookTime    = 10 * time.Second // for the look at the start
	maxKey      = 1024             // bytes of a name, for all servers
	maxDoubts   = 100_000          // messages of which it is not known whether they are stored
	array       = "array"
)

// Sink stores objects. It may be used by several goroutines at once.
type Sink struct {
	config  Config
	key     *lines.Template
	encoder *lines.Encoder
	client  *s3.Client
	web     *http.Client
	far     away.Far

	mu     sync.Mutex
	doubts map[message.ID]string // the objects that messages may be in
}

// New checks the settings.
func New(c Config, _ component.Env) (component.Sink, error) {
	s := &Sink{config: c, doubts: map[message.ID]string{}}
	if c.Endpoint != "" {
		u, err := url.Parse(c.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
			u.RawQuery != "" {
			return nil, component.Setting("endpoint", errors.New("is no URL such as https://host:port, without user "+
				"and query: access_key and secret say who we are"))
		}
	}
	switch {
	case c.Bucket == "" || strings.Contains(c.Bucket, "/"):
		return nil, component.Setting("bucket", fmt.Errorf("%q is no bucket: name the one that objects are stored in",
			c.Bucket))
	case c.AccessKey == "" || c.Secret == "":
		return nil, component.Setting("access_key", errors.New("access_key and secret are missing: say who we are"))
	}
	if err := c.TLS.Check(); err != nil {
		return nil, err
	}
	if s.config.Region == "" {
		s.config.Region = usualRegion
	}
	if s.config.Key == "" {
		s.config.Key = usualKey
	}
	var err error
	if s.key, err = lines.NewTemplate(s.config.Key); err != nil {
		return nil, component.Setting("key", err)
	}
	if s.encoder, err = lines.NewEncoder(c.Encoding); err != nil {
		return nil, component.Setting("encoding.codec", err)
	}
	if c.Payload == array && s.encoder.Codec() == lines.Text {
		return nil, component.Setting("encoding.codec", errors.New("payload array needs the codec json or message"))
	}
	return s, nil
}

// Start reads the certificates and looks at the bucket. A server that cannot be reached is waited for; one that refuses
// us is an error.
func (s *Sink) Start(ctx context.Context) error {
	secured, err := s.config.TLS.Load("")
	if err != nil {
		return err
	}
	s.web = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: secured,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10}}
	o := s3.Options{
		Region: s.config.Region, HTTPClient: s.web,
		Credentials: credentials.NewStaticCredentialsProvider(s.config.AccessKey, s.config.Secret.Reveal(),
			s.config.SessionToken.Reveal()),
		Retryer: aws.NopRetryer{}, // that is the pipeline's business
		// Servers of others know no other checksums.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if s.config.Endpoint != "" {
		o.BaseEndpoint, o.UsePathStyle = &s.config.Endpoint, true
	}
	s.client = s3.New(o)
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err = s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.config.Bucket})
	if status(err) >= 400 && status(err) < 500 && status(err) != http.StatusTooManyRequests {
		return fmt.Errorf("the bucket %s is not there, or the server refuses us: %w", s.config.Bucket, err)
	}
	if err != nil {
		s.far.Away(s.failed(err))
	}
	return nil
}

// Close lets go of the connections.
func (s *Sink) Close() error {
	if s.web != nil {
		s.web.CloseIdleConnections()
	}
	return nil
}

// Waits tells why nothing can be stored.
func (s *Sink) Waits() error { return s.far.Why() }

// clean makes one part of a name of an attribute.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, text)
	if strings.Trim(text, ".") == "" {
		return strings.Repeat("_", len(text))
	}
	return text
}
