package sign_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/api/lambda/sign"
)

func TestWhatIsSignedIsAccepted(t *testing.T) {
	v := sigv4.Verifier{Service: "lambda", Secrets: func(key string) ([]string, bool) {
		return []string{"s3cret"},
			key == "courier"
	}}
	for _, path := range []string{"/", "/2015-03-31/functions/f/invocations?Qualifier=$LATEST&a=b c",
		"/2015-03-31/functions/a%3Ab%20c/configuration", "/hikyaku/functions/f/log?lines=10&follow=true"} {
		for _, body := range []string{"", `{"色":"赤"}`} {
			r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:9001"+strings.ReplaceAll(path, " c", "%20c"),
				strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			sign.Request(r, []byte(body), "courier", "s3cret", "us-east-1", "lambda", time.Now())
			if _, err := v.Verify(r, []byte(body)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if _, err := v.Verify(r, []byte(body+"x")); err == nil {
				t.Errorf("%s: another body is accepted", path)
			}
		}
	}
}
