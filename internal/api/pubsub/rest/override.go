package rest

import (
	"io"
	"net/http"
	"strings"
)

// maxForm is how many bytes of parameters the body of a request may have that stands for a GET.
const maxForm = 64 << 10

// override gives a POST the method that its header or $httpMethod names, as all of Google's services do: for clients
// behind what lets no other methods through, and for parameters that are too long for an address, which are a form in
// the body then.
func override(w http.ResponseWriter, r *http.Request) *problem {
	method := strings.ToUpper(r.Header.Get("X-HTTP-Method-Override"))
	if method == "" && strings.Contains(r.URL.RawQuery, "httpMethod") {
		method = strings.ToUpper(r.URL.Query().Get("$httpMethod"))
	}
	if method == "" || r.Method != http.MethodPost {
		return nil
	}
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	case http.MethodGet:
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			form, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
			if err != nil {
				return invalid("the parameters in the body could not be read: %v (at most %d bytes)", err, maxForm)
			}
			r.URL.RawQuery = strings.Trim(r.URL.RawQuery+"&"+strings.TrimSpace(string(form)), "&")
			r.Body, r.ContentLength = http.NoBody, 0
			r.Header.Del("Content-Type")
		}
	default:
		return invalid("the request wants to be a %.40s: GET, PUT, PATCH and DELETE are possible", method)
	}
	r.Method = method
	return nil
}
