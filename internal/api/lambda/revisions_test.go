package lambda

import (
	"encoding/base64"
	"testing"
)

func (r *rig) revision(t *testing.T, path string) string {
	t.Helper()
	id, _ := r.ok(200, "GET", path, "").json(t)["RevisionId"].(string)
	return id
}

// The service gives $LATEST another revision when a version is made of it, and not when an alias is made.
func TestAPublicationGivesLatestAnotherRevision(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const latest, first = functions + "/f/configuration", functions + "/f/configuration?Qualifier=1"
	before := r.revision(t, latest)
	r.ok(201, "POST", functions+"/f/versions", `{"RevisionId":"`+before+`"}`)
	after, version := r.revision(t, latest), r.revision(t, first)
	if after == before || version == before || version == after {
		t.Errorf("$LATEST was %s and is %s, the version is %s", before, after, version)
	}
	const stale = "The Revision Id provided does not match the latest Revision Id. Call the GetFunction/GetAlias API " +
		"to retrieve the latest Revision Id"
	r.recorded(t, []recorded{
		{"POST", functions + "/f/versions", `{"RevisionId":"` + before + `"}`, 412, []string{stale}, nil},
		{"POST", functions + "/f/versions", `{"RevisionId":"` + after + `"}`, 201, []string{`"Version":"1"`}, nil},
		{"POST", functions + "/f/aliases", `{"Name":"live","FunctionVersion":"1"}`, 201, nil, nil},
		{"PUT", functions + "/f/aliases/live", `{"RevisionId":"wrong"}`, 412, []string{stale}, nil},
		{"PUT", latest, `{"RevisionId":"wrong","Timeout":5}`, 412, []string{stale}, nil},
	})
	if r.revision(t, latest) != after || r.revision(t, first) != version {
		t.Error("a publication without a change, or an alias, has changed a revision")
	}
}

// TestWhatIsPublishedIsNotUpdated: whoever names a version or an alias does not mean $LATEST.
func TestWhatIsPublishedIsNotUpdated(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"Publish": true})
	f := functions + "/f"
	r.ok(201, "POST", f+"/aliases", `{"Name":"live","FunctionVersion":"1"}`)
	const words = "Current operation does not support versions other than $LATEST"
	code := `{"ZipFile":"` + base64.StdEncoding.EncodeToString(packed(t, "app.py", program)) + `"}`
	var calls []recorded
	for _, qualifier := range []string{"1", "live"} {
		calls = append(calls,
			recorded{"PUT", f + ":" + qualifier + "/configuration", `{"Timeout":9}`, 400, []string{words}, nil},
			recorded{"PUT", f + ":" + qualifier + "/code", code, 400, []string{words}, nil},
			recorded{"POST", f + ":" + qualifier + "/versions", "{}", 400, []string{words}, nil})
	}
	r.recorded(t, append(calls,
		recorded{"GET", f + "/configuration", "", 200, []string{`"Timeout":60,`}, nil},
		recorded{"PUT", f + ":$LATEST/configuration", `{"Timeout":9}`, 200, []string{`"Timeout":9,`}, nil}))
}
