package lambda

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// tagsOf is the path of an ARN's tags, as clients write it.
func tagsOf(arn string) string { return "/2017-03-31/tags/" + url.PathEscape(arn) }

func (r *rig) tags(t *testing.T, arn string) map[string]string {
	t.Helper()
	var out struct{ Tags map[string]string }
	if err := json.Unmarshal([]byte(r.ok(200, "GET", tagsOf(arn), "").text), &out); err != nil {
		t.Fatal(err)
	}
	return out.Tags
}

// Tools that keep state, as Terraform does, tag whatever they make and read the tags again.
func TestAMappingHasTagsAsAFunctionHas(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	made := r.create("f", map[string]any{"Timeout": 30, "Tags": map[string]string{"team": "couriers"}}).json(t)
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "work"},
		[]message.Message{{Body: []byte("first")}}); err != nil {
		t.Fatal(err)
	}
	m := r.ok(202, "POST", "/2015-03-31/event-source-mappings/",
		`{"EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:work","FunctionName":"f","Enabled":false,"Tags":{"team":"riders"}}`).json(t)
	for arn, team := range map[string]string{made["FunctionArn"].(string): "couriers",
		m["EventSourceMappingArn"].(string): "riders"} {
		if got := r.tags(t, arn); got["team"] != team || len(got) != 1 {
			t.Errorf("%s: %v", arn, got)
		}
		r.ok(204, "POST", tagsOf(arn), `{"Tags":{"stage":"test","aa":"bb"}}`)
		r.ok(204, "DELETE", tagsOf(arn)+"?tagKeys=aa&tagKeys=team", "")
		if got := r.tags(t, arn); got["stage"] != "test" || len(got) != 1 {
			t.Errorf("%s: %v", arn, got)
		}
	}
	r.stop()
	r = openRig(t, dir, Config{}, nil)
	if got := r.tags(t, m["EventSourceMappingArn"].(string)); got["stage"] != "test" {
		t.Errorf("after a restart: %v", got)
	}
	for _, c := range []struct {
		arn    string
		status int
		kind   string
	}{
		{made["FunctionArn"].(string) + ":$LATEST", 400, "InvalidParameterValueException"},
		{"arn:aws:lambda:us-east-1:000000000000:function:absent", 404, "ResourceNotFoundException"},
		{"arn:aws:lambda:us-east-1:000000000000:event-source-mapping:11111111-1111-1111-1111-111111111111", 404,
			"ResourceNotFoundException"},
		{"arn:aws:lambda:eu-west-1:000000000000:function:f", 404, "ResourceNotFoundException"},
		{"arn:aws:s3:::bucket", 400, "ValidationException"},
	} {
		if g := r.ok(c.status, "GET", tagsOf(c.arn), ""); g.Header.Get("X-Amzn-Errortype") != c.kind {
			t.Errorf("%s: %s", c.arn, g.text)
		}
	}
}

func TestAVersionIsPublishedOnceForEachChange(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("f", nil)
	publish := func(body string) string {
		return r.ok(201, "POST", functions+"/f/versions", body).json(t)["Version"].(string)
	}
	for i, body := range []string{`{"Description":"first"}`, `{"Description":"another"}`, `{}`} {
		if got := publish(body); got != "1" {
			t.Errorf("publication %d without a change is version %s", i, got)
		}
	}
	r.ok(200, "PUT", functions+"/f/configuration", `{"Timeout":7}`)
	if got := publish(`{"Description":"another"}`); got != "2" {
		t.Errorf("a publication after a change is version %s", got)
	}
}

func TestAFunctionHasFiftyTagsAtMost(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	arn := r.create("f", nil).json(t)["FunctionArn"].(string)
	tags := func(from, to int) string {
		some := map[string]string{}
		for i := from; i < to; i++ {
			some[fmt.Sprint("tag", i)] = "x"
		}
		text, err := json.Marshal(map[string]any{"Tags": some})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const says = "Number of tags exceeds resource tag limit."
	if g := r.ok(400, "POST", tagsOf(arn), tags(0, 51)); !strings.Contains(g.text, says) {
		t.Error(g.text)
	}
	r.ok(204, "POST", tagsOf(arn), tags(0, 50))
	if g := r.ok(400, "POST", tagsOf(arn), tags(50, 51)); !strings.Contains(g.text, says) {
		t.Error(g.text)
	}
	r.ok(204, "POST", tagsOf(arn), tags(49, 50)) // one that it has
	if got := r.tags(t, arn); len(got) != 50 {
		t.Errorf("%d tags", len(got))
	}
}

func TestSettingsThatCannotBeAreRefusedInTheServicesWords(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("f", nil)
	for _, c := range []struct{ body, kind, text string }{
		{`{"Timeout":901}`, "ValidationException", "Value '901' at 'timeout' failed to satisfy constraint: Member " +
			"must have value less than or equal to 900"},
		{`{"MemorySize":64}`, "ValidationException", "Value '64' at 'memorySize' failed to satisfy constraint: " +
			"Member must have value greater than or equal to 128"},
		{`{"EphemeralStorage":{"Size":20000}}`, "ValidationException", "Value '20000' at 'ephemeralStorage.size'"},
		{`{"Role":"nobody"}`, "ValidationException", "Value 'nobody' at 'role' failed to satisfy constraint: Member " +
			"must satisfy regular expression pattern: arn:"},
		{`{"Environment":{"Variables":{"AWS_REGION":"x","A":"b","_HANDLER":"y"}}}`, "InvalidParameterValueException",
			"Reserved keys used in this request: AWS_REGION, _HANDLER"},
	} {
		g := r.ok(400, "PUT", functions+"/f/configuration", c.body)
		if g.Header.Get("X-Amzn-Errortype") != c.kind || !strings.Contains(g.text, c.text) {
			t.Errorf("%s: %s %s", c.body, g.Header.Get("X-Amzn-Errortype"), g.text)
		}
	}
	for _, name := range reservedVariables {
		g := r.ok(400, "PUT", functions+"/f/configuration", `{"Environment":{"Variables":{"`+name+`":"x"}}}`)
		if !strings.Contains(g.text, "Reserved keys used in this request: "+name) {
			t.Errorf("%s: %s", name, g.text)
		}
	}
	if len(reservedVariables) != 18 {
		t.Errorf("%d variables are reserved", len(reservedVariables))
	}
	if g := r.ok(404, "GET", functions+"/"+url.PathEscape("arn:aws:lambda:eu-west-1:000000000000:function:f"),
		""); !strings.Contains(g.text, "Functions from 'eu-west-1' are not reachable in this region ('us-east-1')") {
		t.Errorf("%s", g.text)
	}
	if g := r.ok(400, "POST", functions+"/f/versions",
		`{"CodeSha256":"other"}`); g.Header.Get("X-Amzn-Errortype") != "InvalidParameterValueException" {
		t.Errorf("%s", g.text)
	}
}

func TestAnAliasThatIsNotThereIsNotUpdatedInTheServicesWords(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("f", nil)
	if g := r.ok(404, "PUT", functions+"/f/aliases/absent", `{"FunctionVersion":"1"}`); !strings.Contains(g.text,
		"Alias not found: arn:aws:lambda:us-east-1:000000000000:function:f:absent") {
		t.Errorf("%s", g.text)
	}
}

func TestAnswersSayTheRuntimeAndAnEmptyEnvironmentThatWasGiven(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	plain := r.create("f", nil).json(t)
	if _, ok := plain["Environment"]; ok {
		t.Errorf("nobody has said anything of an environment: %v", plain)
	}
	if arn, _ := plain["RuntimeVersionConfig"].(map[string]any)["RuntimeVersionArn"].(string); !strings.HasPrefix(arn,
		"arn:aws:lambda:us-east-1::runtime:") {
		t.Errorf("%v", plain)
	}
	for body, want := range map[string]int{`{"Environment":{"Variables":{"A":"b"}}}`: 1,
		`{"Environment":{"Variables":{}}}`: 0} {
		got := r.ok(http.StatusOK, "PUT", functions+"/f/configuration", body).json(t)
		e, ok := got["Environment"].(map[string]any)
		if !ok || len(e["Variables"].(map[string]any)) != want {
			t.Errorf("%s: %v", body, got["Environment"])
		}
	}
}
