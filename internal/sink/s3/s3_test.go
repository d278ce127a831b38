//go:build linux

package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const bucket = "logs"

func start(t *testing.T) *databasetest.Server {
	t.Helper()
	s, err := databasetest.StartS3(context.Background(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func at(address string) Config {
	return Config{Endpoint: "http://" + address, Bucket: bucket, AccessKey: databasetest.S3AccessKey,
		Secret: databasetest.S3Secret}
}

func open(t *testing.T, c Config) *Sink {
	t.Helper()
	made, err := New(c, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// stored is the text of each object, by its name.
func stored(t *testing.T, s *Sink) map[string]string {
	t.Helper()
	all := map[string]string{}
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.config.Bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			if strings.HasSuffix(*o.Key, "/") { // a folder of the server's
				continue
			}
			got, err := s.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &s.config.Bucket, Key: o.Key})
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(got.Body)
			if err := errors.Join(err, got.Body.Close()); err != nil {
				t.Fatal(err)
			}
			all[*o.Key] = string(body)
		}
	}
	return all
}

var day = time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC)

func batch(host string, bodies ...string) (all []*message.Message) {
	for _, b := range bodies {
		m := &message.Message{ID: message.NewID(), Body: []byte(b), Time: day}
		m.Attributes.Set("host", message.String(host))
		all = append(all, m)
	}
	return all
}

func send(t *testing.T, s *Sink, b []*message.Message) (verdicts string, reasons error) {
	t.Helper()
	out, err := s.Send(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, o := range out {
		word := o.Verdict.String()
		if o.Held {
			word = "held"
		}
		words, reasons = append(words, word), errors.Join(reasons, o.Reason)
	}
	return strings.Join(words, " "), reasons
}

func TestABatchIsAnObjectForEachKeyHoweverOftenItIsStored(t *testing.T) {
	c := at(start(t).Address())
	c.Key = "a/%Y/%m/{host}-"
	s := open(t, c)
	b := append(batch("x/y", "one", "two"), batch("..", "three")...)
	for range 2 {
		if got, err := send(t, s, b); got != "delivered delivered delivered" {
			t.Fatal(got, err)
		}
	}
	all := stored(t, s)
	for key, want := range map[string]string{"a/2026/02/x_y-20260203T040506.007Z-": "one\ntwo\n",
		"a/2026/02/__-20260203T040506.007Z-": "three\n"} {
		found := ""
		for k, text := range all {
			if strings.HasPrefix(k, key) && strings.HasSuffix(k, ".log") {
				found = text
			}
		}
		if found != want || len(all) != 2 {
			t.Errorf("%s has %q of %v", key, found, all)
		}
	}
}

func TestObjectsAreCompressedAndArraysAreJSON(t *testing.T) {
	server := start(t)
	unpack := map[string]func(io.Reader) (io.Reader, error){
		"":     func(r io.Reader) (io.Reader, error) { return r, nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) },
	}
	for compression, end := range map[string]string{"": ".json", "gzip": ".json.gz", "zstd": ".json.zst"} {
		c := at(server.Address())
		c.Key, c.Payload, c.Compression = "c"+compression+"/", array, compression
		c.Encoding = lines.Encoding{Codec: lines.JSON}
		s := open(t, c)
		got, err := send(t, s, batch("h", `{"a":1}`, "no json", `{"a": 2}`))
		if got != "delivered rejected delivered" || !errors.Is(err, lines.ErrNotJSON) {
			t.Error(got, err)
		}
		for key, text := range stored(t, s) {
			if !strings.HasPrefix(key, c.Key) {
				continue
			}
			r, err := unpack[compression](strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			var items []struct{ A int }
			if err := json.NewDecoder(r).Decode(&items); err != nil || len(items) != 2 || items[1].A != 2 ||
				!strings.HasSuffix(key, end) {
				t.Errorf("%s: %v, %v", key, items, err)
			}
		}
	}
}

func TestAMessageWithoutAPlaceIsRefusedAlone(t *testing.T) {
	c := at(start(t).Address())
	c.Key = "{host}/"
	s := open(t, c)
	b := append(batch("a", "good"), append(batch(strings.Repeat("n", 2000), "long"), batch("a", "good")...)...)
	b = append(b, &message.Message{Time: day})
	got, err := send(t, s, b)
	if got != "delivered rejected delivered rejected" || !strings.Contains(err.Error(), "at most 1024") ||
		!strings.Contains(err.Error(), "host is missing") {
		t.Error(got, err)
	}
	// The server's own bound: a name of a file.
	if got, err := send(t, s, batch(strings.Repeat("n", 300), "a")); got != "rejected" && got != "retry" {
		t.Error(got, err)
	}
}

func TestWhoIsRefusedIsToldAtTheStart(t *testing.T) {
	server := start(t)
	wrong, absent := at(server.Address()), at(server.Address())
	wrong.Secret, absent.Bucket = "wrong-one", "absent"
	for _, c := range []Config{wrong, absent} {
		made, err := New(c, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		err = made.(component.Starter).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "refuses us") || strings.Contains(err.Error(), "wrong-one") {
			t.Errorf("it starts, or tells the wrong thing: %v", err)
		}
		_ = made.Close()
	}
}

// deliver sends until all is delivered, in batches that change from try to try.
func deliver(t *testing.T, s *Sink, b []*message.Message) {
	t.Helper()
	for size := len(b); len(b) > 0; size = max(1, size/2) {
		var again []*message.Message
		for from := 0; from < len(b); from += size {
			part := b[from:min(from+size, len(b))]
			out, err := s.Send(t.Context(), part)
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range out {
				switch o.Verdict {
				case component.Retry:
					again = append(again, part[i])
				case component.Rejected:
					t.Fatal(o.Reason)
				}
			}
		}
		b = again
	}
}

// linesOf counts how often each line is stored.
func linesOf(t *testing.T, s *Sink) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for _, text := range stored(t, s) {
		for line := range strings.Lines(text) {
			seen[line]++
		}
	}
	return seen
}

func TestAnAnswerThatIsLostDoublesNothing(t *testing.T) {
	server := start(t)
	to, err := url.Parse("http://" + server.Address())
	if err != nil {
		t.Fatal(err)
	}
	var losing atomic.Bool
	far := httputil.NewSingleHostReverseProxy(to)
	far.Transport = &http.Transport{DisableKeepAlives: true}
	far.ModifyResponse = func(r *http.Response) error {
		if losing.Load() && r.Request.Method == http.MethodPut {
			return http.ErrAbortHandler
		}
		return nil
	}
	far.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	between := httptest.NewServer(far)
	defer between.Close()
	s := open(t, at(between.Listener.Addr().String()))
	b := batch("h", "a", "b", "c", "d")
	losing.Store(true)
	if got, err := send(t, s, b); got != "retry retry retry retry" {
		t.Fatal(got, err)
	}
	losing.Store(false)
	deliver(t, s, append(b[1:3:3], batch("h", "e")...))
	deliver(t, s, []*message.Message{b[3], b[0]})
	if seen := linesOf(t, s); len(seen) != 5 || seen["a\n"] != 1 || seen["b\n"] != 1 {
		t.Errorf("%v", seen)
	}
	if len(s.doubts) != 0 {
		t.Errorf("%d doubts are left", len(s.doubts))
	}
}

func TestARestartOfTheServerLosesNothingAndDoublesNothing(t *testing.T) {
	server := start(t)
	s := open(t, at(server.Address()))
	const batches, size = 60, 20
	half, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := range batches {
			if i == batches/2 {
				close(half)
			}
			var bodies []string
			for j := range size {
				bodies = append(bodies, fmt.Sprintf("%d-%d", i, j))
			}
			deliver(t, s, batch("h", bodies...))
		}
	}()
	<-half
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the sink knows that the server is away", func() bool { return s.Waits() != nil })
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-done
	seen := linesOf(t, s)
	doubled := 0
	for _, n := range seen {
		doubled += n - 1
	}
	if len(seen) != batches*size || doubled != 0 {
		t.Errorf("%d lines of %d, %d of them again", len(seen), batches*size, doubled)
	}
}

func TestWhatCannotWorkIsRefusedWithItsSetting(t *testing.T) {
	for setting, change := range map[string]func(*Config){
		"endpoint":       func(c *Config) { c.Endpoint = "http://u:hidden@h" },
		"bucket":         func(c *Config) { c.Bucket = "" },
		"access_key":     func(c *Config) { c.Secret = "" },
		"tls":            func(c *Config) { c.TLS.CertFile = "c" },
		"key":            func(c *Config) { c.Key = "{" },
		"encoding.codec": func(c *Config) { c.Payload = array },
	} {
		c := at("h")
		change(&c)
		_, err := New(c, component.Env{})
		if e := (*component.SettingError)(nil); !errors.As(err, &e) || e.Setting != setting ||
			strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
