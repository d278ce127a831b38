package pubsub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func testUsers(t *testing.T) *access.Users {
	t.Helper()
	users, err := access.New([]access.User{
		{Name: "boss", Secret: "boss-secret",
			Grants: []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}},
		{Name: "writer", Secret: "writer-secret",
			Grants: []access.Grant{{Can: []string{"put"}, On: []string{"default/news"}}}},
		{Name: "reader", Secret: "reader-secret",
			Grants: []access.Grant{{Can: []string{"take"}, On: []string{"default/readers"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return users
}

func as(ctx context.Context, secret string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+secret)
}

func TestUsersMayWhatTheyWereGranted(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, testUsers(t), s)
	boss, writer, reader := as(t.Context(), "boss-secret"), as(t.Context(), "writer-secret"),
		as(t.Context(), "reader-secret")
	publish := &pubsubpb.PublishRequest{Topic: topicName("news"),
		Messages: []*pubsubpb.PubsubMessage{{Data: []byte("a")}}}
	pull := &pubsubpb.PullRequest{Subscription: subscriptionName("readers"), MaxMessages: 1}

	_, err := r.pub.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topicName("news")})
	wantCode(t, err, codes.Unauthenticated)
	_, err = r.pub.CreateTopic(as(t.Context(), "wrong"), &pubsubpb.Topic{Name: topicName("news")})
	wantCode(t, err, codes.Unauthenticated)
	_, err = r.pub.CreateTopic(writer, &pubsubpb.Topic{Name: topicName("news")})
	wantCode(t, err, codes.PermissionDenied)
	if _, err := r.pub.CreateTopic(boss, &pubsubpb.Topic{Name: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"readers", "secret"} {
		if _, err := r.sub.CreateSubscription(boss,
			&pubsubpb.Subscription{Name: subscriptionName(id), Topic: topicName("news")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.pub.Publish(writer, publish); err != nil {
		t.Error(err)
	}
	_, err = r.pub.Publish(reader, publish)
	wantCode(t, err, codes.PermissionDenied)
	_, err = r.sub.Pull(writer, pull)
	wantCode(t, err, codes.PermissionDenied)
	got, err := r.sub.Pull(reader, pull)
	if err != nil || len(got.ReceivedMessages) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	ack := &pubsubpb.AcknowledgeRequest{Subscription: subscriptionName("readers"), AckIds: ackIDs(got.ReceivedMessages)}
	_, err = r.sub.Acknowledge(boss, ack) // an ack id is its user's
	wantCode(t, err, codes.InvalidArgument)
	if _, err := r.sub.Acknowledge(reader, ack); err != nil {
		t.Error(err)
	}
	st, err := r.sub.StreamingPull(writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("readers"),
		StreamAckDeadlineSeconds: 10}); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	_, err = st.Recv()
	wantCode(t, err, codes.PermissionDenied)
	list, err := r.sub.ListSubscriptions(reader, &pubsubpb.ListSubscriptionsRequest{Project: "projects/local"})
	if err != nil || len(list.Subscriptions) != 1 {
		t.Errorf("the reader sees %v, %v", list, err)
	}
	may, err := iampb.NewIAMPolicyClient(r.conn).TestIamPermissions(reader, &iampb.TestIamPermissionsRequest{
		Resource: subscriptionName("readers"),
		Permissions: []string{"pubsub.subscriptions.consume", "pubsub.subscriptions.delete",
			"pubsub.subscriptions.get"},
	})
	if err != nil || !slices.Equal(may.Permissions,
		[]string{"pubsub.subscriptions.consume", "pubsub.subscriptions.get"}) {
		t.Errorf("the reader may %v, %v", may, err)
	}
}

// rest calls the REST form.
func (r *rig) rest(method, path, body string, header ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.addr+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestTheRESTFormIsOnTheSamePort(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ method, path, body, want string }{
		{"PUT", "/v1/projects/local/topics/news", "{}", `projects/local/topics/news`},
		{"PUT", "/v1/projects/local/subscriptions/readers", `{"topic": "projects/local/topics/news"}`,
			`ackDeadlineSeconds`},
		{"POST", "/v1/projects/local/topics/news:publish",
			`{"messages": [{"data": "aGVsbG8=", "attributes": {"a": "b"}}]}`, `messageIds`},
		{"POST", "/v1/projects/local/subscriptions/readers:pull", `{"maxMessages": 1}`, `aGVsbG8=`},
		{"PATCH", "/v1/projects/local/subscriptions/readers",
			`{"subscription": {"ackDeadlineSeconds": 30}, "updateMask": "ackDeadlineSeconds"}`,
			`"ackDeadlineSeconds":30`},
		{"GET", "/v1/projects/local/topics", "", `projects/local/topics/news`},
	} {
		code, text := r.rest(c.method, c.path, c.body, "Content-Type", "application/json")
		if code != 200 || !strings.Contains(strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
	if code, text := r.rest("GET", "/", ""); code != 200 || text != "Ok\n" {
		t.Errorf("scripts that look whether it is up get %d %q", code, text)
	}
	if code, text := r.rest("GET", "/v1/projects/local/topics/none", ""); code != 404 ||
		!strings.Contains(text, "NOT_FOUND") {
		t.Errorf("%d %s", code, text)
	}
	if code, text := r.rest("GET", "/v1/projects/local/topics", "", "Host", "evil.example"); code != 403 {
		t.Errorf("by a name of somebody else's: %d %s", code, text)
	}
}

func TestTheRESTFormKnowsUsers(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, testUsers(t), s)
	if code, text := r.rest("PUT", "/v1/projects/local/topics/news", "{}"); code != 401 {
		t.Errorf("%d %s", code, text)
	}
	if code, text := r.rest("PUT", "/v1/projects/local/topics/news", "{}", "Authorization",
		"Bearer boss-secret"); code != 200 {
		t.Errorf("%d %s", code, text)
	}
}

// certificate writes a certificate for 127.0.0.1 and its key into a folder.
func certificate(t *testing.T) (access.TLS, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hikyaku"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := access.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{files.Cert: {Type: "CERTIFICATE", Bytes: der},
		files.Key: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return files, pool
}

func TestWithTLSBothProtocolsAreServed(t *testing.T) {
	files, pool := certificate(t)
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	traffic := door.NewTraffic("pubsub")
	r := newRigWith(t, Config{TLS: files}, Options{Store: s, Traffic: traffic})
	if resp, err := http.Get("http://" + r.addr + "/v1/projects/local/topics"); err != nil || resp.StatusCode != 400 {
		t.Errorf("plain HTTP is answered with %+v, %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
	doortest.Until(t, "its handshake is counted", func() bool {
		return metricstest.Of(t, traffic)["hikyaku_door_tls_handshakes_failed_total pubsub"] == 1
	})
	conn := r.dial(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
	if _, err := pubsubpb.NewPublisherClient(conn).CreateTopic(t.Context(),
		&pubsubpb.Topic{Name: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.addr+"/v1/projects/local/topics",
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "topics/news") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, c := range []struct {
		config Config
		users  bool
		want   error
	}{
		{Config{}, false, nil},
		{Config{Off: true, Listen: "nonsense"}, false, nil},
		{Config{Listen: "nonsense"}, false, ErrConfig},
		{Config{Listen: "127.0.0.1:99999"}, false, ErrConfig},
		{Config{TLS: access.TLS{Cert: "x"}}, false, ErrConfig},
		{Config{MaxConnections: -1}, false, ErrConfig},
		{Config{Listen: ":8085"}, false, access.ErrExposed},
		{Config{Listen: ":8085"}, true, nil},
	} {
		if err := c.config.Check(c.users); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, not %v", c.config, err, c.want)
		}
	}
	if _, err := New(Config{}, Options{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

func TestADoorOpensAndClosesOnce(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context()); !errors.Is(err, door.ErrStarted) {
		t.Error(err)
	}
	idle, err := net.Dial("tcp", d.Addr().String()) // says nothing: it does not hold up the close
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	for range 2 {
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Start(t.Context()); !errors.Is(err, door.ErrClosed) {
		t.Error(err)
	}
	off, err := New(Config{Off: true}, Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if addr, err := off.Start(t.Context()); addr != nil || err != nil {
		t.Errorf("%v, %v", addr, err)
	}
	if err := off.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	r := newRigOver(t, Config{MaxConnections: 2}, nil, s)
	hold := func() net.Conn {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, two := hold(), hold()
	defer two.Close()
	third := hold()
	defer third.Close()
	if _, err := third.Write([]byte("GET /v1/x HTTP/1.0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := third.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := third.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it was served: %v", err)
	}
	_ = one.Close()
	if err := third.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := third.Read(make([]byte, 1)); err != nil {
		t.Errorf("it was not served when another left: %v", err)
	}
}
