package lambda

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const layersPath = "/2018-10-31/layers"

// zipped is an archive of files by their names.
func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range sortedKeys(files) {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// layer publishes a version of a layer and returns what the door says of it.
func (r *rig) layer(t *testing.T, name string, files map[string]string) map[string]any {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"Content":            map[string]any{"ZipFile": base64.StdEncoding.EncodeToString(zipped(t, files))},
		"Description":        "of " + name,
		"CompatibleRuntimes": []string{"python3.12"}, "CompatibleArchitectures": []string{"x86_64"},
		"LicenseInfo": "MIT",
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.ok(201, "POST", layersPath+"/"+name+"/versions", string(text)).json(t)
}

// layered is the body of a change to layers.
func layered(t *testing.T, arns ...any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Layers": arns})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const importing = `
import word, other
def handler(event, context):
    return word.text + " " + other.text
`

func TestAFunctionFindsTheLayersThatWerePublished(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	first := r.layer(t, "words",
		map[string]string{"python/word.py": "text = 'one'", "python/other.py": "text = 'first'"})
	second := r.layer(t, "others", map[string]string{"python/other.py": "text = 'second'"})
	if first["LayerVersionArn"] != "arn:aws:lambda:us-east-1:000000000000:layer:words:1" || first["Version"] != 1.0 {
		t.Errorf("%v", first)
	}
	code := base64.StdEncoding.EncodeToString(zipped(t, map[string]string{"app.py": importing}))
	made := r.create("f", map[string]any{"Code": map[string]any{"ZipFile": code},
		"Layers": []any{first["LayerVersionArn"], second["LayerVersionArn"]}}).json(t)
	if got := fmt.Sprint(made["Layers"]); !strings.Contains(got, "layer:words:1") ||
		strings.Contains(got, "CodeSize:0") {
		t.Errorf("%v", got)
	}
	want := func(text string) {
		t.Helper()
		if g := r.invoke("f", "{}"); g.text != `"`+text+`"` {
			t.Errorf("got %s, wanted %s", g.text, text)
		}
	}
	want("one second")
	r.ok(200, "PUT", functions+"/f/configuration", layered(t, second["LayerVersionArn"], first["LayerVersionArn"]))
	want("one first") // later ones come first
	for _, arn := range []any{first["LayerVersionArn"], second["LayerVersionArn"]} {
		parts := strings.Split(arn.(string), ":")
		r.ok(204, "DELETE", layersPath+"/"+parts[6]+"/versions/1", "")
	}
	r.ok(404, "GET", layersPath+"/words/versions/1", "")
	r.ok(200, "PUT", functions+"/f/configuration", `{"Timeout":50}`)
	r.ok(201, "POST", functions+"/f/versions", "{}")
	r.stop() // what was deleted stays with the functions that have it
	r = openRig(t, dir, Config{}, nil)
	want("one first")
	if again := r.layer(t, "words",
		map[string]string{"python/word.py": "text = 'two'",
			"python/other.py": "text = 'third'"}); again["Version"] != 2.0 {
		t.Errorf("numbers go on: %v", again)
	}
	r.ok(200, "PUT", functions+"/f/configuration", layered(t, "arn:aws:lambda:us-east-1:000000000000:layer:words:2"))
	want("two third")
	r.ok(204, "DELETE", layersPath+"/words/versions/2", "")
	r.ok(204, "DELETE", functions+"/f", "")
	left, err := os.ReadDir(filepath.Join(dir, "functions", "code"))
	if err != nil || len(left) != 0 {
		t.Errorf("archives that nothing names are left: %v, %v", left, err)
	}
}

func TestLayersAreListedAndToldApart(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.layer(t, "words", map[string]string{"a": "1"})
	made := r.layer(t, "words", map[string]string{"a": "2"})
	got := r.ok(200, "GET", layersPath+"?find=LayerVersion&Arn="+url.QueryEscape(made["LayerVersionArn"].(string)),
		"").json(t)
	same := r.ok(200, "GET", layersPath+"/"+url.PathEscape(made["LayerArn"].(string))+"/versions/2", "").json(t)
	for name, value := range made {
		if fmt.Sprint(got[name]) != fmt.Sprint(value) || fmt.Sprint(same[name]) != fmt.Sprint(value) {
			t.Errorf("%s: %v, %v, %v", name, value, got[name], same[name])
		}
	}
	location := made["Content"].(map[string]any)["Location"].(string)
	if g := r.ok(200, "GET", strings.TrimPrefix(location, r.base),
		""); g.text != string(zipped(t, map[string]string{"a": "2"})) {
		t.Errorf("the archive is another one: %q", g.text)
	}
	if all := r.ok(200, "GET", layersPath+"/words/versions?CompatibleRuntime=python3.12",
		"").json(t)["LayerVersions"].([]any); len(all) != 2 || all[0].(map[string]any)["Version"] != 2.0 {
		t.Errorf("%v", all)
	}
	if all := r.ok(200, "GET", layersPath+"/words/versions?CompatibleRuntime=java21",
		"").json(t)["LayerVersions"].([]any); len(all) != 0 {
		t.Errorf("%v", all)
	}
	all := r.ok(200, "GET", layersPath+"?CompatibleArchitecture=x86_64", "").json(t)["Layers"].([]any)
	if len(all) != 1 || all[0].(map[string]any)["LatestMatchingVersion"].(map[string]any)["Version"] != 2.0 {
		t.Errorf("%v", all)
	}
}

func TestLayersThatCannotBeAreRefusedInTheServicesWords(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("f", nil)
	const arn = "arn:aws:lambda:us-east-1:000000000000:layer:"
	for range 2 {
		r.layer(t, "words", map[string]string{"a": "1"})
	}
	six := []any{}
	for i := range 6 {
		six = append(six, r.layer(t, fmt.Sprint("l", i), map[string]string{"a": "1"})["LayerVersionArn"])
	}
	climbing := base64.StdEncoding.EncodeToString(zipped(t, map[string]string{"../a": "x"}))
	small := base64.StdEncoding.EncodeToString(zipped(t, map[string]string{"a": "x"}))
	config, versions := functions+"/f/configuration", layersPath+"/words/versions"
	for _, c := range []struct {
		method, path, body string
		status             int
		kind, text         string
	}{
		{"PUT", config, layered(t, arn+"words:1", arn+"words:2"), 400, "InvalidParameterValueException",
			"Two different versions of the same layer are not allowed to be referenced in the same function. " + arn +
				"words:1 and " + arn + "words:2 are versions of the same layer."},
		{"PUT", config, layered(t, arn+"absent:1"), 400, "InvalidParameterValueException",
			"Layer version " + arn + "absent:1 does not exist."},
		{"PUT", config, layered(t, arn+"words:9"), 400, "InvalidParameterValueException",
			"Layer version " + arn + "words:9 does not exist."},
		{"PUT", config, layered(t, arn+"words"), 400, "ValidationException",
			"at 'layers' failed to satisfy constraint"},
		{"PUT", config, layered(t, "arn:aws:lambda:eu-west-1:000000000000:layer:words:1"), 400,
			"InvalidParameterValueException", "Layers are not in the same region as the function. Layers are " +
				"expected to be in region us-east-1."},
		{"PUT", config, layered(t, six...), 400, "InvalidParameterValueException",
			"Cannot reference more than 5 layers."},
		{"POST", functions, `{"FunctionName":"f","Runtime":"python3.11","Handler":"app.handler","Code":{"ZipFile":"` +
			small + `"},"Layers":["arn:aws:lambda:eu-west-1:000000000000:layer:words:1"]}`, 400,
			"InvalidParameterValueException", "Layers are not in the same region"},
		{"GET", layersPath + "/arn:aws:lambda:eu-west-1:000000000000:layer:words/versions", "", 404,
			"ResourceNotFoundException", "Layers from 'eu-west-1' are not reachable in this region ('us-east-1')"},
		{"GET", versions + "/0", "", 400, "InvalidParameterValueException", "Layer Version Cannot be less than 1"},
		{"GET", versions + "/9", "", 404, "ResourceNotFoundException", "The resource you requested does not exist."},
		{"DELETE", versions + "/-1", "", 400, "InvalidParameterValueException", "Layer Version Cannot be less than 1"},
		{"DELETE", versions + "/9", "", 204, "", ""},
		{"GET", layersPath + "/absent/versions", "", 200, "", `"LayerVersions":[]`},
		{"GET", layersPath + "?find=LayerVersion&Arn=" + arn + "words", "", 400, "ValidationException",
			"Value '" + arn + "words' at 'arn' failed to satisfy constraint"},
		{"GET", layersPath + "?CompatibleRuntime=cobol", "", 400, "ValidationException", "at 'compatibleRuntime'"},
		{"GET", layersPath + "?CompatibleArchitecture=z80", "", 400, "ValidationException",
			"enum value set: [x86_64, arm64]"},
		{"POST", versions, `{"Content":{"ZipFile":"` + climbing + `"}}`, 400, "InvalidParameterValueException",
			"Could not unzip uploaded file."},
		{"POST", versions, `{"Content":{"ZipFile":"` + small + `"},"CompatibleRuntimes":["cobol"]}`, 400,
			"ValidationException", "Value '[cobol]' at 'compatibleRuntimes' failed to satisfy constraint: Member " +
				"must satisfy enum value set: ["},
		{"POST", versions, `{"Content":{"ZipFile":"` + small + `"},"CompatibleArchitectures":["z80"]}`, 400,
			"ValidationException", "Value '[z80]' at 'compatibleArchitectures'"},
		{"POST", versions, `{"Content":{"ZipFile":"` + small + `"},"Description":"` + strings.Repeat("x", 257) + `"}`,
			400, "ValidationException", "at 'description'"},
		{"POST", layersPath + "/a%20b/versions", `{"Content":{"ZipFile":"` + small + `"}}`, 400, "ValidationException",
			"at 'layerName'"},
	} {
		g := r.ok(c.status, c.method, c.path, c.body)
		if g.Header.Get("X-Amzn-Errortype") != c.kind || !strings.Contains(g.text, c.text) {
			t.Errorf("%s %s %.100s: %s %s", c.method, c.path, c.body, g.Header.Get("X-Amzn-Errortype"), g.text)
		}
	}
}

func TestALayersPolicyIsKept(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	arn := r.layer(t, "words", map[string]string{"a": "1"})["LayerVersionArn"].(string)
	policy := layersPath + "/words/versions/1/policy"
	everybody := `{"StatementId":"s1","Action":"lambda:GetLayerVersion","Principal":"*"}`
	if g := r.ok(404, "GET", policy, ""); !strings.Contains(g.text,
		"No policy is associated with the given resource.") {
		t.Errorf("%s", g.text)
	}
	added := r.ok(201, "POST", policy, everybody).json(t)
	if want := `{"Sid":"s1","Effect":"Allow","Principal":"*","Action":"lambda:GetLayerVersion","Resource":"` + arn +
		`"}`; added["Statement"] != want {
		t.Errorf("%v", added["Statement"])
	}
	got := r.ok(200, "GET", policy, "").json(t)
	if got["RevisionId"] != added["RevisionId"] ||
		!strings.Contains(got["Policy"].(string), added["Statement"].(string)) {
		t.Errorf("%v", got)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"POST", policy, everybody, 409, "The statement id (s1) provided already exists."},
		{"POST", policy + "?RevisionId=old", `{"StatementId":"s2","Action":"lambda:GetLayerVersion","Principal":"*"}`,
			412, "Call the GetLayerPolicy API"},
		{"POST", policy, `{"StatementId":"s2","Action":"*","Principal":"*"}`, 400, "Value '*' at 'action' failed to " +
			"satisfy constraint: Member must satisfy regular expression pattern: lambda:GetLayerVersion"},
		{"POST", policy, `{"StatementId":"s2","Action":"lambda:GetLayerVersion","Principal":"me"}`, 400,
			"at 'principal'"},
		{"POST", layersPath + "/absent/versions/1/policy", everybody, 404, "layer:absent:1 does not exist."},
		{"GET", layersPath + "/words/versions/2/policy", "", 404, "layer:words:2 does not exist."},
		{"DELETE", policy + "/absent", "", 404, "Statement absent is not found in resource policy."},
		{"DELETE", policy + "/s1?RevisionId=old", "", 412, "Call the GetLayerPolicy API"},
		{"DELETE", policy + "/s1?RevisionId=" + added["RevisionId"].(string), "", 204, ""},
	} {
		if g := r.ok(c.status, c.method, c.path, c.body); !strings.Contains(g.text, c.text) {
			t.Errorf("%s %s: %s", c.method, c.path, g.text)
		}
	}
	r.ok(404, "GET", policy, "")
}
