package lambda

import "testing"

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
