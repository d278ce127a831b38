package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/mask"
)

// openHeaders are those whose values anybody may see.
var openHeaders = []string{"Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Host", "User-Agent"}

// header checks the headers and puts them into the form that net/http wants.
func header(settings map[string]string) (http.Header, error) {
	h := http.Header{"User-Agent": {userAgent}}
	for name, value := range settings {
		at := "headers." + name
		if name == "" || strings.ContainsFunc(name, notToken) {
			return nil, component.Setting(at, fmt.Errorf("%q is not the name of a header", name))
		}
		if strings.ContainsFunc(value, notHeaderText) {
			return nil, component.Setting(at, errors.New("has a control character in its value")) // and no more of it
		}
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length", "Transfer-Encoding", "Connection":
			return nil, component.Setting(at, errors.New("is not for settings: it follows from the request"))
		}
		h.Set(name, value)
	}
	return h, nil
}

func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
}

func notHeaderText(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// secrets makes what hides the secrets of the settings in a text.
func secrets(u *url.URL, h http.Header) mask.Masker {
	var found []mask.Secret
	add := func(s string) { found = append(found, mask.Secret{Text: s, Shown: "[hidden]"}) }
	if u.User != nil {
		add(u.User.String())
		password, _ := u.User.Password()
		add(password)
	}
	add(u.RequestURI())
	add(u.EscapedPath())
	add(u.RawQuery)
	for _, values := range u.Query() {
		for _, v := range values {
			add(v)
		}
	}
	for name, values := range h {
		if slices.Contains(openHeaders, name) {
			continue
		}
		for _, v := range values {
			add(v)
			if _, credentials, ok := strings.Cut(v, " "); ok { // "Bearer …"
				add(credentials)
			}
		}
	}
	return mask.New(found...)
}
