package rows

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/message/jsontext/jsontexttest"
)

func TestStringsAreReadAsEncodingJSONDoes(t *testing.T) {
	n := newNames()
	field := n.add("text")
	s := newScanner(n)
	jsontexttest.Check(t, func(quoted string) (string, bool) {
		if s.object(`{"text":`+quoted+`}`) != nil {
			return "", false
		}
		return s.tokens[field].content(), true
	})
}
