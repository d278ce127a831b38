package deployment_test

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/message"
)

func messages(bodies ...string) []message.Message {
	var all []message.Message
	for _, b := range bodies {
		all = append(all, message.Message{Body: []byte(b), Time: time.Now()})
	}
	return all
}

func TestAFunctionIsNamedInEachFormOfTheAPI(t *testing.T) {
	for text, want := range map[string]string{
		"f": "f/", "f:1": "f/1", "f:$LATEST": "f/$LATEST", "f:live": "f/live", "000000000000:function:f": "f/",
		"000000000000:function:f:live":                       "f/live",
		"arn:aws:lambda:us-east-1:000000000000:function:f":   "f/",
		"arn:aws:lambda:us-east-1:000000000000:function:f:7": "f/7",
		"": "", "a b": "", "f:": "", "f:1:2": "", "arn:aws:sqs:us-east-1:0:q:r:s": "", "f/g": "",
	} {
		name, qualifier, err := deployment.ParseName(text)
		got := name + "/" + qualifier
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, wanted %q", text, got, want)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("f")
	f.Add("arn:aws:lambda:us-east-1:000000000000:function:f:live")
	f.Add("0:function:f:$LATEST")
	f.Fuzz(func(t *testing.T, text string) {
		name, qualifier, err := deployment.ParseName(text)
		if err != nil {
			return
		}
		again := name
		if qualifier != "" {
			again += ":" + qualifier
		}
		if n, q, err := deployment.ParseName(again); n != name || q != qualifier || err != nil {
			t.Errorf("%q is %q and %q, and that is %q and %q, %v", text, name, qualifier, n, q, err)
		}
	})
}
