package lambda

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type hanging struct{}

// RoundTrip implements http.RoundTripper.
func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestADoorThatDoesNotAnswerIsSaidToBeSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := NewClient(ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		c.web.Transport = hanging{}
		begun := time.Now()
		err = c.Call(t.Context(), "AmazonSQS.ListQueues", nil, nil)
		if err == nil || !strings.Contains(err.Error(), "has not answered for 2m0s") || time.Since(begun) != mostTime {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
