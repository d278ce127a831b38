package apns

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	device = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
	id     = "123e4567-e89b-12d3-a456-426655440000"
)

// rig is a far end and a client of net/http.
type rig struct {
	*Server
	key    *Key
	client *http.Client
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	key, err := NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		t.Fatal(err)
	}
	c.Keys = append(c.Keys, key)
	c.Keep = 100
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.Authority.Pool()}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{s, key, &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

// token signs a provider token with the library that most programs use.
func (r *rig) token(t *testing.T, change func(*jwt.Token, jwt.MapClaims)) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": "TEAM123456", "iat": time.Now().Unix()}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = r.key.ID
	if change != nil {
		change(token, claims)
	}
	private, err := jwt.ParseECPrivateKeyFromPEM(r.key.PEM)
	if err != nil {
		t.Fatal(err)
	}
	text, err := token.SignedString(private)
	if err != nil {
		t.Fatal(err)
	}
	return "bearer " + text
}

// answer is what came back.
type answer struct {
	status    int
	Reason    string `json:"reason"`
	Timestamp int64  `json:"timestamp"`
	header    http.Header
	body      []byte
}

// push sends a push. Headers without a value are left out.
func (r *rig) push(t *testing.T, method, path, body string, headers map[string]string) answer {
	t.Helper()
	req, err := http.NewRequest(method, r.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	if len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &a); err != nil {
			t.Fatalf("%s: %v", a.body, err)
		}
	}
	return a
}

func (r *rig) headers(t *testing.T) map[string]string {
	return map[string]string{
		"authorization": r.token(t, nil), "apns-topic": "com.example.news", "apns-push-type": "alert", "apns-id": id,
		"apns-priority": "10", "apns-expiration": "0", "apns-collapse-id": "news",
	}
}

func with(headers map[string]string, name, value string) map[string]string {
	headers[name] = value
	return headers
}

var _ farend.Service = (*provider)(nil)
