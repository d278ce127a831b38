package hms

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	success = "80000000"
	partial = "80100000"
	flow    = "503" // Push Kit's flow control, which has a status alone
)

// kind is a code of Push Kit: the status that it comes with here, and its text. Huawei documents the statuses 200, 400,
// 401 and 500, but not which code has which.
type kind struct {
	status int
	text   string
}

var codes = map[string]kind{
	success:    {200, "Success"},
	partial:    {200, ""},
	"80100001": {400, "Check Parameter Error"},
	"80100003": {400, "Illegal payload"},
	"80100004": {400, "Illegal expire time"},
	"80100013": {400, "Illegal collapse_key"},
	"80100016": {400, "The message contains sensitive content"},
	"80100017": {400, "Too many topic messages"},
	"80100018": {400, "The review's signature is wrong"},
	"80200001": {401, "Authentication Error"},
	"80200003": {401, "Access token expired"},
	"80300002": {200, "No permission to send message to these tmIDs"},
	"80300007": {200, "All the tokens are invalid"},
	"80300008": {400, "Push message size is too long"},
	"80300010": {400, "token count should within 1 and 1000"},
	"80300011": {400, "No permission to send high urgency messages"},
	"80300013": {400, "Illegal receipt"},
	"80600003": {200, "Request to the OAuth service failed"},
	"81000001": {500, "Inner Error"},
	flow:       {503, ""},
}

// Reasons are the names of all answers that can be asked for, in alphabetical order.
func Reasons() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(codes)), func(c string) bool { return c == success })
}

// Knows returns nil for a code of Push Kit.
func (p *provider) Knows(reason string) error {
	if _, ok := codes[reason]; ok && reason != success {
		return nil
	}
	return fmt.Errorf("reason: %q is none of Push Kit's codes: it knows %s", reason, strings.Join(Reasons(), ", "))
}

// Refuse makes an answer an error.
func (p *provider) Refuse(r *farend.Request, a *farend.Answer, reason string) {
	text := ""
	if reason == partial {
		text = illegal(r.Body)
	}
	p.answer(a, reason, text)
}

// illegal is what a partial success says of the tokens of a message: that all are wrong.
func illegal(body []byte) string {
	m, _, _ := parse(body)
	if m == nil {
		return ""
	}
	text, _ := json.Marshal(map[string]any{"success": 0, "failure": len(m.Token), "illegal_tokens": m.Token})
	return string(text)
}
