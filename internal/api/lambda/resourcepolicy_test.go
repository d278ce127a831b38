package lambda

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// policyOf is the path of a resource's policy, as clients write it.
func policyOf(arn string) string { return "/2026-07-09/resource-policy/" + url.PathEscape(arn) }

// TestAResourcePolicyIsTheFunctionsPolicyAsAWhole: what AddPermission adds is in it, and what replaces it is what
// GetPolicy shows; a version and an alias have their own.
func TestAResourcePolicyIsTheFunctionsPolicyAsAWhole(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	arn := r.create("f", map[string]any{"Publish": true}).json(t)["FunctionArn"].(string)
	arn = strings.TrimSuffix(arn, ":1")
	r.ok(201, "POST", "/2015-03-31/functions/f/policy",
		`{"StatementId":"added","Action":"lambda:InvokeFunction","Principal":"s3.amazonaws.com"}`)
	refused := func(status int, kind, method, path, body string) {
		t.Helper()
		if g := r.ok(status, method, path, body); g.Header.Get("X-Amzn-Errortype") != kind {
			t.Errorf("%s %s: %s, want %s", method, body, g.text, kind)
		}
	}
	read := func(path string) (text, revision string) {
		t.Helper()
		out := r.ok(200, "GET", path, "").json(t)
		return out["Policy"].(string), out["RevisionId"].(string)
	}
	text, revision := read(policyOf(arn))
	if same, _ := read("/2015-03-31/functions/f/policy"); !strings.Contains(text, `"Sid":"added"`) || text != same {
		t.Errorf("%s, and by GetPolicy %s", text, same)
	}
	const mine = `{"Version":"2012-10-17","Statement":` +
		`{"Sid":"mine","Effect":"Allow","Principal":"*","Action":"lambda:*"}}`
	put := func(revision string) string {
		body, err := json.Marshal(map[string]string{"Policy": mine, "RevisionId": revision})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Replace(string(body), `,"RevisionId":""`, "", 1)
	}
	other := "00000000-0000-0000-0000-000000000000"
	refused(412, "PreconditionFailedException", "PUT", policyOf(arn), put(other))
	r.ok(200, "PUT", policyOf(arn), put(revision))
	r.ok(200, "PUT", policyOf(arn+":1"), put(""))
	r.stop()
	r = openRig(t, dir, Config{}, nil)
	text, revision = read(policyOf(arn))
	if !strings.Contains(text, `"Sid":"mine"`) || strings.Contains(text, "added") {
		t.Errorf("after a restart: %s", text)
	}
	refused(412, "PreconditionFailedException", "DELETE", policyOf(arn)+"?RevisionId="+other, "")
	r.ok(204, "DELETE", policyOf(arn)+"?RevisionId="+revision, "")
	refused(404, "ResourceNotFoundException", "GET", policyOf(arn), "")
	refused(404, "ResourceNotFoundException", "DELETE", policyOf(arn), "")
	read(policyOf(arn + ":1"))
	for body, kind := range map[string]string{
		`{"Policy":"{"}`:                    "InvalidParameterValueException",
		`{"Policy":"{}"}`:                   "InvalidParameterValueException",
		`{"Policy":"{\"Statement\":[]}"}`:   "InvalidParameterValueException",
		`{"Policy":"{\"Statement\":[{}]}"}`: "InvalidParameterValueException",
		`{"Policy":""}`:                     "ValidationException",
		`{}`:                                "ValidationException",
		`{"Policy":"{}","RevisionId":"1"}`:  "ValidationException",
		`{"Policy":7}`:                      "SerializationException",
	} {
		refused(400, kind, "PUT", policyOf(arn), body)
	}
	long, err := json.Marshal(map[string]string{"Policy": strings.Replace(mine, `"mine"`,
		`"`+strings.Repeat("x", maxPolicy-len(mine))+`"`, 1)})
	if err != nil {
		t.Fatal(err)
	}
	refused(400, "PolicyLengthExceededException", "PUT", policyOf(arn), string(long))
	refused(400, "InvalidParameterValueException", "PUT", policyOf(arn+":$LATEST"), put(""))
	refused(400, "ValidationException", "GET", policyOf("f"), "")
	refused(404, "ResourceNotFoundException", "GET", policyOf(arn+"x"), "")
	refused(404, "ResourceNotFoundException", "PUT", policyOf(arn+":none"), put(""))
	refused(404, "ResourceNotFoundException", "GET", policyOf(strings.Replace(arn, "us-east-1", "eu-west-1", 1)), "")
}
