package sigv4_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/access/sigv4"
)

var (
	signed = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	reader = aws.Credentials{AccessKeyID: "reader", SecretAccessKey: "s3cret+/="}
)

// verifier knows reader, and its clock stands still.
func verifier(now time.Time) *sigv4.Verifier {
	return &sigv4.Verifier{
		Service: "sqs",
		Secrets: func(key string) ([]string, bool) {
			return []string{"an older one", reader.SecretAccessKey}, key == reader.AccessKeyID
		},
		Now: func() time.Time { return now },
	}
}

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// outgoing is a request of a client.
func outgoing(t testing.TB, method, target string, body []byte) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, "http://127.0.0.1:9324"+target, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sign signs a request as the SDK does.
func sign(t testing.TB, r *http.Request, body []byte, who aws.Credentials, service, region string, at time.Time) {
	t.Helper()
	if err := v4.NewSigner().SignHTTP(t.Context(), who, r, hash(body), service, region, at); err != nil {
		t.Fatal(err)
	}
}

// arrived is the request as a server of net/http sees it.
func arrived(t testing.TB, r *http.Request, body []byte) *http.Request {
	t.Helper()
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	defer server.Close()
	sent := r.Clone(t.Context())
	sent.URL.Host = strings.TrimPrefix(server.URL, "http://")
	sent.Host = r.URL.Host
	if r.Host != "" {
		sent.Host = r.Host
	}
	sent.Body = http.NoBody
	if len(body) > 0 {
		sent.Body, sent.ContentLength = readCloser{bytes.NewReader(body)}, int64(len(body))
	}
	answer, err := server.Client().Transport.RoundTrip(sent)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return got
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

func TestWhatTheSDKSignsIsTaken(t *testing.T) {
	body := []byte(`{"QueueUrl":"q","MessageBody":"飛脚"}`)
	r := outgoing(t, http.MethodPost, "/", body)
	r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Odd", "  two   spaces ")
	sign(t, r, body, reader, "sqs", "us-east-1", signed)
	who, err := verifier(signed.Add(time.Minute)).Verify(arrived(t, r, body), body)
	want := sigv4.Identity{AccessKey: "reader", Region: "us-east-1", Service: "sqs", Time: signed}
	if err != nil || who != want {
		t.Fatalf("got %+v, %v", who, err)
	}
}

func TestWhatTheSDKPresignsIsTaken(t *testing.T) {
	r := outgoing(t, http.MethodGet,
		"/000000000000/news?Action=ReceiveMessage&AttributeName.1=All&X-Amz-Expires=600&empty=&a%20b=c%2Bd", nil)
	target, _, err := v4.NewSigner().PresignHTTP(t.Context(), reader, r, hash(nil), "sqs", "us-east-1", signed)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	got := arrived(t, outgoing(t, http.MethodGet, u.RequestURI(), nil), nil)
	who, err := verifier(signed.Add(9*time.Minute)).Verify(got, nil)
	if err != nil || !who.Presigned || who.AccessKey != "reader" {
		t.Fatalf("got %+v, %v", who, err)
	}
	refused(t, verifier(signed.Add(11*time.Minute)), got, nil, sigv4.RequestExpired, "Request has expired.")
	refused(t, verifier(signed.Add(-16*time.Minute)), got, nil, sigv4.SignatureDoesNotMatch,
		"Signature not yet current: 20261122T093000Z is still later than 20261122T092900Z (20261122T091400Z + 15 min.)")
	refused(t, verifier(signed), got, []byte("a body"), sigv4.SignatureDoesNotMatch,
		"The request signature we calculated")
	got.Header.Set("X-Amz-Target", "AmazonSQS.PurgeQueue")
	refused(t, verifier(signed), got, nil, sigv4.SignatureDoesNotMatch, "'X-Amz-Target' must be a 'SignedHeader'")
}

// refused expects an error.
func refused(t testing.TB, v *sigv4.Verifier, r *http.Request, body []byte, code, message string) {
	t.Helper()
	who, err := v.Verify(r, body)
	var bad *sigv4.Error
	if !errors.As(err, &bad) {
		t.Errorf("was taken as %+v, %v; want %s", who, err, code)
		return
	}
	if bad.Code != code || !strings.HasPrefix(bad.Message, message) || bad.Status < 400 || bad.Status > 403 {
		t.Errorf("got %d %v; want %s: %s", bad.Status, bad, code, message)
	}
}

func TestARequestIsTakenOnlyAsItWasSigned(t *testing.T) {
	body := []byte(`{"QueueUrl":"q"}`)
	fresh := func(t *testing.T) *http.Request {
		r := outgoing(t, http.MethodPost, "/a/b?x=1", body)
		r.Header.Set("X-Amz-Target", "AmazonSQS.PurgeQueue")
		sign(t, r, body, reader, "sqs", "us-east-1", signed)
		return arrived(t, r, body)
	}
	const differs = "The request signature we calculated does not match"
	for name, c := range map[string]struct {
		change  func(*http.Request)
		body    []byte
		code    string
		message string
	}{
		"another body": {func(*http.Request) {}, []byte(`{"QueueUrl":"r"}`), sigv4.SignatureDoesNotMatch,
			differs},
		"another path": {func(r *http.Request) { r.URL.Path = "/a/c" }, body, sigv4.SignatureDoesNotMatch,
			differs},
		"another query": {func(r *http.Request) { r.URL.RawQuery = "x=2" }, body, sigv4.SignatureDoesNotMatch,
			differs},
		"another method": {func(r *http.Request) { r.Method = http.MethodPut }, body,
			sigv4.SignatureDoesNotMatch, differs},
		"another host": {func(r *http.Request) { r.Host = "evil" }, body, sigv4.SignatureDoesNotMatch,
			differs},
		"another target": {func(r *http.Request) { r.Header.Set("X-Amz-Target", "AmazonSQS.DeleteQueue") }, body,
			sigv4.SignatureDoesNotMatch, differs},
		"another time": {func(r *http.Request) { r.Header.Set("X-Amz-Date", "20261122T093001Z") }, body,
			sigv4.SignatureDoesNotMatch, differs},
		"another day": {func(r *http.Request) { r.Header.Set("X-Amz-Date", "20261121T235959Z") }, body,
			sigv4.SignatureDoesNotMatch, "Date in Credential scope does not match"},
		"another hash": {func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", hash(nil)) }, body,
			sigv4.SignatureDoesNotMatch, "The provided 'x-amz-content-sha256' header"},
		"no hash": {func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") },
			body, sigv4.SignatureDoesNotMatch, differs},
		"no signature": {func(r *http.Request) { r.Header.Del("Authorization") }, body,
			sigv4.MissingAuthenticationToken, "Request is missing Authentication Token"},
		"another scheme": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, body,
			sigv4.IncompleteSignature, "Authorization header has to begin with AWS4-HMAC-SHA256"},
		"nothing signed": {func(r *http.Request) {
			r.Header.Set("Authorization",
				"AWS4-HMAC-SHA256 Credential=a/b/c/d/e")
		}, body, sigv4.IncompleteSignature, "Authorization header " +
			"requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter."},
		"no equal sign": {func(r *http.Request) {
			r.Header.Set("Authorization",
				"AWS4-HMAC-SHA256 Credential")
		}, body, sigv4.IncompleteSignature, "'Credential' not a valid key=value " +
			"pair (missing equal-sign) in Authorization header"},
		"no date": {func(r *http.Request) { r.Header.Del("X-Amz-Date"); r.Header.Del("Date") }, body,
			sigv4.IncompleteSignature, "Authorization header requires existence of either"},
		"an odd date": {func(r *http.Request) { r.Header.Set("X-Amz-Date", "today") }, body,
			sigv4.IncompleteSignature, "Date must be in ISO-8601 'basic format'. Got 'today'"},
		"host not signed": {replace("host;", ""), body, sigv4.SignatureDoesNotMatch,
			"'Host' or ':authority' must be"},
		"target not signed": {replace(";x-amz-target", ""), body, sigv4.SignatureDoesNotMatch,
			"'X-Amz-Target' must be"},
		"headers not sorted": {replace("host;x-amz-date", "x-amz-date;host"), body, sigv4.IncompleteSignature,
			"SignedHeaders have to be"},
		"another key": {replace("Credential=reader/", "Credential=writer/"), body, sigv4.InvalidClientTokenID,
			"The security token included in the request is invalid."},
		"another service": {replace("/sqs/", "/sns/"), body, sigv4.SignatureDoesNotMatch,
			"Credential should be scoped to correct service: 'sqs'."},
		"another region": {replace("/us-east-1/", "/us-east-2/"), body, sigv4.SignatureDoesNotMatch, differs},
		"another terminator": {replace("/aws4_request", "/aws5_request"), body, sigv4.SignatureDoesNotMatch,
			"Credential should be scoped with a valid terminator"},
		"a short scope": {replace("/us-east-1/", "/"), body, sigv4.IncompleteSignature,
			"Credential must have at least 5"},
		"half a signature": {func(r *http.Request) {
			h := r.Header.Get("Authorization")
			r.Header.Set(
				"Authorization", h[:len(h)-2])
		}, body, sigv4.SignatureDoesNotMatch, differs},
		"a longer signature": {func(r *http.Request) {
			r.Header.Set("Authorization",
				r.Header.Get("Authorization")+"00")
		}, body, sigv4.SignatureDoesNotMatch, differs},
		"a broken query string": {func(r *http.Request) { r.URL.RawQuery = "%zz" }, body, sigv4.IncompleteSignature,
			"The query string is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			r := fresh(t)
			if _, err := verifier(signed).Verify(r, body); err != nil {
				t.Fatal(err)
			}
			c.change(r)
			refused(t, verifier(signed), r, c.body, c.code, c.message)
		})
	}
}

// replace changes the header Authorization.
func replace(old, with string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, with, 1))
	}
}

func TestAPresignedRequestHasToBeWhole(t *testing.T) {
	const whole = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=reader/20261122/us-east-1/sqs/aws4_request&X-Amz-Date=20261122T093000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature="
	digits := strings.Repeat("0", 64)
	for _, c := range []struct{ old, with, code, message string }{
		{"", "", sigv4.SignatureDoesNotMatch, "The request signature we calculated"},
		{"X-Amz-Date=20261122T093000Z&", "", sigv4.IncompleteSignature,
			"AWS query-string parameters must include 'X-Amz-Date'."},
		{"X-Amz-Expires=60&X-Amz-SignedHeaders=host&", "", sigv4.IncompleteSignature, "AWS query-string parameters " +
			"must include 'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Expires'."},
		{"HMAC-SHA256", "HMAC-SHA1", sigv4.IncompleteSignature,
			"X-Amz-Algorithm has to be AWS4-HMAC-SHA256, not 'AWS4-HMAC-SHA1'"},
		{"20261122T093000Z", "yesterday", sigv4.IncompleteSignature,
			"X-Amz-Date must be in ISO-8601 'basic format'. Got 'yesterday'"},
		{"Expires=60", "Expires=0", sigv4.IncompleteSignature, "X-Amz-Expires has to be a number of seconds from 1 " +
			"to 604800. Got '0'"},
		{"Expires=60", "Expires=604801", sigv4.IncompleteSignature, "X-Amz-Expires has to be"},
		{"Expires=60", "Expires=soon", sigv4.IncompleteSignature, "X-Amz-Expires has to be"},
		{"SignedHeaders=host", "SignedHeaders=date", sigv4.SignatureDoesNotMatch,
			"'Host' or ':authority' must be a 'SignedHeader'"},
		{"SignedHeaders=host", "SignedHeaders=host" + strings.Repeat("%3Bx", 200), sigv4.IncompleteSignature,
			"More than 100 headers are signed"},
		{"reader/", strings.Repeat("x", 1000) + "/", sigv4.InvalidClientTokenID, "The security token"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?"+strings.Replace(whole, c.old, c.with, 1)+digits, nil)
		refused(t, verifier(signed), r, nil, c.code, c.message)
	}
	if text := (&sigv4.Error{Code: "Code", Message: "What."}).Error(); text != "Code: What." {
		t.Errorf("got %q", text)
	}
}

func TestClocksMayDifferByAQuarterOfAnHour(t *testing.T) {
	r := outgoing(t, http.MethodPost, "/", nil)
	sign(t, r, nil, reader, "sqs", "us-east-1", signed)
	got := arrived(t, r, nil)
	for _, ok := range []time.Duration{-15 * time.Minute, 0, 15 * time.Minute} {
		if _, err := verifier(signed.Add(ok)).Verify(got, nil); err != nil {
			t.Errorf("%s later: %v", ok, err)
		}
	}
	refused(t, verifier(signed.Add(15*time.Minute+time.Second)), got, nil, sigv4.SignatureDoesNotMatch,
		"Signature expired: 20261122T093000Z is now earlier than 20261122T093001Z (20261122T094501Z - 15 min.)")
	refused(t, verifier(signed.Add(-15*time.Minute-time.Second)), got, nil, sigv4.SignatureDoesNotMatch,
		"Signature not yet current: 20261122T093000Z is still later than 20261122T092959Z (20261122T091459Z + 15 min.)")
}

func TestADateHeaderWillDo(t *testing.T) {
	r := outgoing(t, http.MethodPost, "/", nil)
	sign(t, r, nil, reader, "sqs", "us-east-1", signed)
	got := arrived(t, r, nil)
	got.Header.Del("X-Amz-Date")
	got.Header.Set("Date", signed.Format(http.TimeFormat))
	// The signature is now another one; the time is taken from Date, and is right.
	refused(t, verifier(signed), got, nil, sigv4.SignatureDoesNotMatch, "The request signature we calculated")
	got.Header.Set("Date", "yesterday")
	refused(t, verifier(signed), got, nil, sigv4.IncompleteSignature, "Date header has to be")
}

func TestRegionAndServiceAreTheDoorsToRestrict(t *testing.T) {
	r := outgoing(t, http.MethodPost, "/", nil)
	sign(t, r, nil, reader, "lambda", "eu-west-3", signed)
	got := arrived(t, r, nil)
	v := verifier(signed)
	v.Service = ""
	if who, err := v.Verify(got, nil); err != nil || who.Service != "lambda" || who.Region != "eu-west-3" {
		t.Errorf("got %+v, %v", who, err)
	}
	v.Region = "us-east-1"
	refused(t, v, got, nil, sigv4.SignatureDoesNotMatch, "Credential should be scoped to a valid region")
}

func TestAnyRequestThatTheSDKSignsIsTakenAndNoneWithAnotherSecret(t *testing.T) {
	word := rapid.StringMatching(`[a-zA-Z0-9 _.~!*'()%+:@$,;=&/?é飛-]{0,12}`)
	rapid.Check(t, func(rt *rapid.T) {
		query := url.Values{}
		for range rapid.IntRange(0, 4).Draw(rt, "parameters") {
			query.Add(word.Draw(rt, "name"), word.Draw(rt, "value"))
		}
		target := "/" + url.PathEscape(word.Draw(rt, "segment")) + "/" + url.PathEscape(word.Draw(rt, "segment"))
		if len(query) > 0 {
			target += "?" + query.Encode()
		}
		body := rapid.SliceOf(rapid.Byte()).Draw(rt, "body")
		method := rapid.SampledFrom([]string{http.MethodGet, http.MethodPost, http.MethodPut,
			http.MethodDelete}).Draw(rt, "method")
		r := outgoing(t, method, target, body)
		for i := range rapid.IntRange(0, 3).Draw(rt, "headers") {
			r.Header.Add(fmt.Sprintf("X-Amz-Meta-%d", i%2), rapid.StringMatching(`[ -~]{0,20}`).Draw(rt, "header"))
		}
		signer := v4.NewSigner(func(o *v4.SignerOptions) {
			o.DisableURIPathEscaping = rapid.Bool().Draw(rt,
				"path as sent")
		})
		if rapid.Bool().Draw(rt, "presigned") {
			q := r.URL.Query()
			q.Set("X-Amz-Expires", "60")
			r.URL.RawQuery = q.Encode()
			to, headers, err := signer.PresignHTTP(t.Context(), reader, r, hash(body), "sqs", "us-east-1", signed)
			if err != nil {
				rt.Fatal(err)
			}
			if r.URL, err = url.Parse(to); err != nil {
				rt.Fatal(err)
			}
			for name, values := range headers {
				r.Header[name] = values
			}
		} else if err := signer.SignHTTP(t.Context(), reader, r, hash(body), "sqs", "us-east-1", signed); err != nil {
			rt.Fatal(err)
		}
		got := arrived(t, r, body)
		if who, err := verifier(signed).Verify(got, body); err != nil || who.AccessKey != "reader" {
			rt.Fatalf("%s %s: %v", method, r.URL, err)
		}
		other := verifier(signed)
		other.Secrets = func(string) ([]string, bool) { return []string{"another"}, true }
		refused(t, other, got, body, sigv4.SignatureDoesNotMatch, "The request signature we calculated")
		refused(t, verifier(signed), got, append(bytes.Clone(body), 0), sigv4.SignatureDoesNotMatch, "The")
	})
}

func TestASecretThatIsChangedIsChangedAtOnce(t *testing.T) {
	r := outgoing(t, http.MethodPost, "/", nil)
	sign(t, r, nil, reader, "sqs", "us-east-1", signed)
	got := arrived(t, r, nil)
	v := verifier(signed)
	for range 2 { // the second time the signing key is known
		if _, err := v.Verify(got, nil); err != nil {
			t.Fatal(err)
		}
	}
	v.Secrets = func(string) ([]string, bool) { return []string{"another"}, true }
	refused(t, v, got, nil, sigv4.SignatureDoesNotMatch, "The request signature we calculated")
	v.Secrets = func(string) ([]string, bool) { return nil, true }
	refused(t, v, got, nil, sigv4.HashOnly, "The user has a secret_hash alone")
	v.Secrets = func(string) ([]string, bool) { return nil, false }
	refused(t, v, got, nil, sigv4.InvalidClientTokenID, "The security token")
}

func TestAnyNumberOfDaysAndRegionsIsTaken(t *testing.T) {
	v := verifier(signed)
	for i := range 2100 { // more than are remembered
		r := outgoing(t, http.MethodPost, "/", nil)
		region := fmt.Sprint("region-", i)
		sign(t, r, nil, reader, "sqs", region, signed)
		r.Host = r.URL.Host
		if who, err := v.Verify(r, nil); err != nil || who.Region != region {
			t.Fatalf("%s: %v, %v", region, who, err)
		}
	}
}

func TestAnUnsignedPayloadMayBeAnything(t *testing.T) {
	r := outgoing(t, http.MethodPost, "/", nil)
	r.Header.Set("X-Amz-Content-Sha256", sigv4.UnsignedPayload)
	if err := v4.NewSigner().SignHTTP(t.Context(), reader, r, sigv4.UnsignedPayload, "sqs", "us-east-1",
		signed); err != nil {
		t.Fatal(err)
	}
	if _, err := verifier(signed).Verify(arrived(t, r, nil), []byte("anything")); err != nil {
		t.Fatal(err)
	}
}

// FuzzVerify holds that nothing a client sends is more than refused.
func FuzzVerify(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=reader/20261122/us-east-1/sqs/aws4_request, SignedHeaders=host;x-amz-date, "+
		"Signature="+strings.Repeat("0", 64),
		"20261122T093000Z", "/a?b=c", []byte("body"))
	f.Add("", "", "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=reader%2F20261122%2Fr%2Fsqs%2Faws4_request&X-Amz-Date=20261122T093000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature="+strings.Repeat("0", 64), []byte{})
	f.Add("AWS4-HMAC-SHA256 ,=,Credential=////,Signature=zz", "20269999T999999Z", "/%2e%2e/", []byte{})
	f.Fuzz(func(t *testing.T, authorization, date, target string, body []byte) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		r := &http.Request{Method: http.MethodPost, URL: u, Host: "h",
			Header: http.Header{"Authorization": {authorization}, "X-Amz-Date": {date}}}
		who, err := verifier(signed).Verify(r, body)
		var bad *sigv4.Error
		if !errors.As(err, &bad) || bad.Code == "" || bad.Message == "" || bad.Status < 400 {
			t.Errorf("got %+v, %v", who, err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1000)
	r := outgoing(b, http.MethodPost, "/", body)
	r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	sign(b, r, body, reader, "sqs", "us-east-1", signed)
	got := arrived(b, r, body)
	v := verifier(signed)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(got, body); err != nil {
			b.Fatal(err)
		}
	}
}
