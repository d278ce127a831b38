package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
)

// wishes are how a client wants its answer, by the parameters that every Google API takes
// (cloud.google.com/apis/docs/system-parameters).
type wishes struct {
	format format
	pretty bool // prettyPrint: with line breaks
	fields selection
}

// plain tells that the answer may go as it comes.
func (w *wishes) plain() bool { return !w.pretty && w.fields == nil }

// format is how the transcoder writes the messages of answers.
type format struct {
	enumNumbers bool // $alt=json;enum-encoding=int: enumerations as numbers
	defaults    bool // $outputDefaults: also fields that have no value
}

// systemParameters are those that every Google API takes, or took in an older edition of the page. What is not looked
// at changes nothing here: there are no quotas, no keys and no projects that pay, one version of the API, and one
// format of errors.
var systemParameters = []string{"alt", "$alt", "key", "$key", "prettyPrint", "$prettyPrint", "quotaUser", "$quotaUser",
	"userIp", "fields", "$fields", "$.xgafv", "$apiFormat", "$apiVersion", "$ct", "$httpMethod", "$outputDefaults",
	"$userProject", "passwd", "upload_protocol", "uploadType", "access_token", "oauth_token"}

// takeParameters takes system parameters out of the query.
func takeParameters(r *http.Request) (wishes, *problem) {
	var w wishes
	wrong := w.selected(r.Header.Get("X-Goog-FieldMask"))
	if wrong != nil || r.URL.RawQuery == "" {
		return w, wrong
	}
	// Old clients separate nothing with semicolons, and new ones do not escape those of $alt.
	query, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
	if err != nil {
		return w, invalid("the query of the address cannot be read: %v", err)
	}
	if query.Has("callback") || query.Has("$callback") {
		return w, invalid("callback is not supported; answers are plain JSON")
	}
	for _, name := range []string{"alt", "$alt"} {
		if wrong := w.encoded(name, query.Get(name)); wrong != nil {
			return w, wrong
		}
	}
	for _, x := range []struct {
		name string
		is   *bool
	}{{"prettyPrint", &w.pretty}, {"$prettyPrint", &w.pretty}, {"$outputDefaults", &w.format.defaults}} {
		text := query.Get(x.name)
		if text == "" {
			continue
		}
		if *x.is, err = strconv.ParseBool(text); err != nil {
			return w, invalid("%s=%.40s: true or false are possible", x.name, text)
		}
	}
	for _, name := range []string{"$.xgafv", "$apiFormat"} {
		if text := query.Get(name); text != "" && text != "1" && text != "2" {
			return w, invalid("%s=%.40s: 1 or 2 are possible", name, text)
		}
	}
	if text := query.Get("$httpMethod"); text != "" && !strings.EqualFold(text, r.Method) {
		return w, invalid("$httpMethod=%.40s: the method of this request is %s, and only a POST may stand for another "+
			"one", text, r.Method)
	}
	if text := query.Get("$ct"); text != "" {
		r.Header.Set("Content-Type", text)
	}
	for _, name := range []string{"fields", "$fields"} {
		if wrong := w.selected(query.Get(name)); wrong != nil {
			return w, wrong
		}
	}
	for _, name := range []string{"access_token", "oauth_token"} {
		if token := query.Get(name); token != "" && r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
	for _, name := range systemParameters {
		query.Del(name)
	}
	for _, name := range []string{"updateMask", "update_mask"} {
		if mask := query.Get(name); strings.Contains(mask, "_") {
			query.Set(name, camel(mask))
		}
	}
	r.URL.RawQuery = query.Encode()
	return w, nil
}

// encoded reads how answers are encoded: a kind, and what is said of it.
func (w *wishes) encoded(name, text string) *problem {
	if text == "" {
		return nil
	}
	kind, more, _ := strings.Cut(text, ";")
	if kind != "json" {
		return invalid("%s=%.40s is not supported; answers are JSON", name, text)
	}
	for more != "" {
		var part string
		part, more, _ = strings.Cut(more, ";")
		switch part {
		case "enum-encoding=int":
			w.format.enumNumbers = true
		case "enum-encoding=string", "enum-encoding=name", "":
			w.format.enumNumbers = false
		default:
			return invalid("%s=%.60s is not supported: of JSON enum-encoding=int can be said", name, text)
		}
	}
	return nil
}

// selected reads which fields the answer is to have.
func (w *wishes) selected(text string) *problem {
	if text == "" {
		return nil
	}
	fields, err := parseSelection(text)
	if err != nil {
		return invalid("%v", err)
	}
	w.fields = fields
	return nil
}

func invalid(format string, args ...any) *problem {
	return &problem{code: codes.InvalidArgument, message: fmt.Sprintf(format, args...)}
}
