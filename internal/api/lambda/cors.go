package lambda

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// cors says which web pages of other origins may use a function's URL, and how.
type cors struct {
	AllowCredentials bool
	AllowHeaders     []string
	AllowMethods     []string
	AllowOrigins     []string
	ExposeHeaders    []string
	MaxAge           int
}

// corsOf reads the settings of a URL; nil: it has none, and the function sees to all of that itself.
func corsOf(u deployment.URL) *cors {
	var c *cors
	if json.Unmarshal(u.Cors, &c) != nil { // there is none, or it is an older one of another form
		return nil
	}
	return c
}

// admits tells whether pages of an origin may use the URL.
func (c *cors) admits(origin string) bool {
	return origin != "" && (slices.Contains(c.AllowOrigins, "*") || slices.Contains(c.AllowOrigins, origin))
}

// preflight tells whether a request only asks what pages of its origin may do.
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight says what pages of the request's origin may do. The function is not invoked.
func (c *call) answerPreflight(share *cors) {
	if h := c.w.Header(); share.admits(c.r.Header.Get("Origin")) {
		for name, values := range map[string][]string{"Access-Control-Allow-Headers": share.AllowHeaders,
			"Access-Control-Allow-Methods": share.AllowMethods} {
			if len(values) > 0 {
				h.Set(name, strings.Join(values, ","))
			}
		}
		if share.MaxAge > 0 {
			h.Set("Access-Control-Max-Age", strconv.Itoa(share.MaxAge))
		}
	}
	c.send(http.StatusOK, "application/json", nil)
}

// sharing adds to an answer who may read it. What the function says of that itself stays beside it, as with the
// service.
type sharing struct {
	http.ResponseWriter
	share  *cors
	origin string
}

// WriteHeader implements http.ResponseWriter.
func (w *sharing) WriteHeader(status int) {
	h := w.Header()
	h.Add("Vary", "Origin")
	if w.share.admits(w.origin) {
		h.Add("Access-Control-Allow-Origin", w.origin)
		if w.share.AllowCredentials {
			h.Add("Access-Control-Allow-Credentials", "true")
		}
		if len(w.share.ExposeHeaders) > 0 {
			h.Add("Access-Control-Expose-Headers", strings.Join(w.share.ExposeHeaders, ","))
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find what can flush.
func (w *sharing) Unwrap() http.ResponseWriter { return w.ResponseWriter }
