package mysql

import (
	"database/sql"
	"strings"
	"testing"
)

// TestWhatAPathDoesNotLeadToIsNull: an array has no members, and of several paths those that lead nowhere are left out.
func TestWhatAPathDoesNotLeadToIsNull(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE documents (j json) ENGINE=QUEUE")
	exec(t, c, `INSERT INTO documents VALUES ('[{"a": 1}, {"a": 2}]')`)
	for expression, want := range map[string]string{
		`json_extract('[]', '$.a')`: "", `j->'$.a'`: "", `j->>'$.a'`: "", `j->'$[1].a'`: "2",
		`j->>'$[last].a'`: "2", `j->'$[last-1]'`: `{"a": 1}`, `j->'$[*].a'`: "[1, 2]", `j->'$[2]'`: "",
		`json_extract('{"a": {"b": null}}', '$.a.b')`:               "null",
		`json_extract('{"a": 5}', '$[0].a[0]')`:                     "5",
		`json_extract('{"a": 5}', '$.a.b')`:                         "",
		`json_extract('{"a b": "x", "c": 1}', '$."a b"')`:           `"x"`,
		`json_extract('{"bb": 1, "c": 2}', '$.*')`:                  "[2, 1]",
		`json_extract('{"a": [1, 2]}', '$.a[0]', '$.b')`:            "[1]",
		`json_extract('{"a": [1, 2]}', '$.a[0]', '$.a')`:            "[1, [1, 2]]",
		`json_extract('{"a": 1}', '$.b', '$.c')`:                    "",
		`json_extract(NULL, '$.b')`:                                 "",
		`json_extract('{"a": 1}', NULL)`:                            "",
		`coalesce(json_extract(j, '$.a'), json_extract(j, '$[0]'))`: `{"a": 1}`,
	} {
		var got sql.NullString
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM documents").Scan(&got)
		if err != nil || got.String != want || got.Valid != (want != "") {
			t.Errorf("%s: %v, %v, want %q", expression, got, err, want)
		}
	}
	if _, ok := pathOf("$" + strings.Repeat("[0]", 1<<20)); ok {
		t.Error("a way of a million legs is followed")
	}
	one(t, c, int64(1), "SELECT count(*) FROM documents WHERE j->'$.a' IS NULL AND j->'$[0].a' = 1")
}

// FuzzPaths follows whatever is read as a path through a document: no way leads to more than there is in it.
func FuzzPaths(f *testing.F) {
	for _, text := range []string{"$", "$.a[1].b", "$**.b", "$[last-1 to last]", "$[1 to 2].*", `$."a b"[*]`, "$**[0]",
		"$ . a"} {
		f.Add(text)
	}
	document := map[string]any{"a": []any{1.0, map[string]any{"b": []any{2.0, []any{3.0}}}}, "b": nil, "a b": "x"}
	const places = 10 // of the document, its members and elements
	f.Fuzz(func(t *testing.T, text string) {
		way, ok := pathOf(text)
		if !ok {
			return
		}
		found := follow(document, way)
		if len(found) > places || !forks(way) && len(found) > 1 {
			t.Errorf("%q leads to %d places", text, len(found))
		}
		if len(follow(document, append(way, leg{member: true, name: "none"}))) > 0 {
			t.Errorf("%q leads to a member that there is not", text)
		}
	})
}
