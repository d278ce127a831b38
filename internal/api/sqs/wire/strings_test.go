package wire

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message/jsontext/jsontexttest"
)

func TestStringsAreReadAsEncodingJSONDoes(t *testing.T) {
	jsontexttest.Check(t, func(quoted string) (string, bool) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header["X-Amz-Target"] = []string{"AmazonSQS.SendMessage"}
		call, bad := Decode(r, []byte(`{"QueueUrl":"q","MessageBody":".`+quoted[1:]+`}`)) // none is empty
		if bad != nil {
			return "", false
		}
		return string(call.Request.(*SendMessageRequest).MessageBody[1:]), true
	})
}
