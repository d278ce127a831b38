package wire

import (
	"encoding/base64"
	"strconv"
)

// A reader fills a request. Each request tells its parameters once, in its fields method, and is asked in three ways:
// which parameter a member of a JSON object is, what a form has of each, and which required ones are missing.
type reader struct {
	asked  asked
	key    []byte // json: the member that is being read
	taken  bool   // json: it was one of the request's
	scan   scanner
	form   *form
	prefix string // form: of the parameters of an entry
	bad    *Error
}

// asked is what a reader asks of the fields of a request.
type asked uint8

const (
	inJSON asked = iota
	inForm
	whatIsMissing
)

// A decodable is a Request that can be filled.
type decodable interface {
	Request
	fields(*reader)
}

// readJSON fills a request from a JSON object. An empty body is an empty object.
func readJSON(body []byte, request decodable) *Error {
	r := reader{scan: scanner{data: body}}
	if r.scan.peek() != 0 || r.scan.at < len(body) {
		object(&r, request.fields)
		r.scan.end()
	}
	if r.bad == nil && r.scan.wrong != "" {
		return Malformed(JSON, r.scan.message())
	}
	return r.missing(request)
}

// readForm fills a request from a form.
func readForm(f *form, request decodable) *Error {
	r := reader{asked: inForm, form: f}
	request.fields(&r)
	return r.missing(request)
}

func (r *reader) missing(request decodable) *Error {
	if r.bad == nil {
		r.asked = whatIsMissing
		request.fields(r)
	}
	return r.bad
}

func (r *reader) fail(bad *Error) {
	if r.bad == nil {
		r.bad = bad
	}
}

// object reads the members of a JSON object into what fields tells.
func object(r *reader, fields func(*reader)) {
	if !r.scan.open('{', wantStructure) {
		return
	}
	for first := true; r.scan.more('}', first); first = false {
		r.key, r.taken = r.scan.key(), false
		fields(r)
		if !r.taken {
			r.scan.skip()
		}
	}
}

// member tells whether the JSON member that is being read is the one of that name.
func (r *reader) member(name string) bool {
	if r.asked != inJSON || r.taken || string(r.key) != name {
		return false
	}
	r.taken = true
	return true
}

// about names the parameter that the scanner has just found a wrong value of.
func (r *reader) about(name string) {
	if s := &r.scan; s.mistyped && s.of == "" {
		s.of = name
	}
}

// need notes that a required parameter is missing.
func (r *reader) need(name string, have bool) {
	if r.asked == whatIsMissing && !have {
		r.fail(MissingParameter(name))
	}
}

// text is a parameter with a text.
func (r *reader) text(name string, into *string) {
	switch {
	case r.member(name):
		*into, _ = r.scan.text()
		r.about(name)
	case r.asked == inForm:
		*into, _ = r.form.get(r.prefix + name)
	}
}

// mustText is a parameter with a text that has to be there.
func (r *reader) mustText(name string, into *string) {
	r.text(name, into)
	r.need(name, *into != "")
}

// optText is a parameter with a text of which it matters whether it is there.
func (r *reader) optText(name string, into *Opt[string]) {
	switch {
	case r.member(name):
		into.Value, into.Set = r.scan.text()
		r.about(name)
	case r.asked == inForm:
		into.Value, into.Set = r.form.get(r.prefix + name)
	}
}

// bytes is a parameter with a text that becomes bytes.
func (r *reader) bytes(name string, into *[]byte) {
	switch {
	case r.member(name):
		*into, _ = r.scan.bytes()
		r.about(name)
	case r.asked == inForm:
		text, _ := r.form.get(r.prefix + name)
		*into = []byte(text)
	}
}

// blob is a parameter with bytes in base64. It becomes nil when it is not there, and not nil when it is.
func (r *reader) blob(name string, into *[]byte) {
	var raw []byte
	switch {
	case r.member(name):
		span, ok := r.scan.bytes()
		r.about(name)
		if !ok {
			*into = nil
			return
		}
		raw = span
	case r.asked == inForm:
		text, ok := r.form.get(r.prefix + name)
		if !ok {
			return
		}
		raw = []byte(text)
	default:
		return
	}
	value, err := base64.StdEncoding.AppendDecode(make([]byte, 0, len(raw)*3/4), raw)
	if err != nil {
		r.fail(Malformed(r.protocol(), name+" is not valid base64"))
	}
	*into = value
}

func (r *reader) protocol() Protocol {
	if r.form != nil {
		return Query
	}
	return JSON
}

// integer is a parameter with a whole number.
func (r *reader) integer(name string, into *Opt[int]) {
	switch {
	case r.member(name):
		into.Value, into.Set = r.scan.integer()
		r.about(name)
	case r.asked == inForm:
		text, ok := r.form.get(r.prefix + name)
		if !ok || text == "" {
			return
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			r.fail(InvalidParameterValue(name, shorten(text), "Must be an integer."))
			return
		}
		*into = Some(int(n))
	}
}

// texts is a list of texts: a JSON array, and in a form numbered parameters, most often of another name. What the list
// has already is kept: a parameter may have an older name, too.
func (r *reader) texts(name, inForms string, into *[]string) {
	switch {
	case r.member(name):
		if !r.scan.open('[', wantList) {
			break
		}
		for first := true; r.scan.more(']', first); first = false {
			if text, ok := r.scan.text(); ok {
				*into = append(*into, text)
			}
		}
	case r.asked == inForm:
		for _, name := range []string{inForms, name} {
			*into = append(*into, r.form.list(r.prefix+name)...)
		}
	}
	r.about(name)
}

// textMap is a map of texts: a JSON object, and in a form numbered pairs, most often of another name, whose halves end
// in .Name or .Key, and .Value.
func (r *reader) textMap(name, inForms string, into *map[string]string) {
	set := func(key, value string) {
		if *into == nil {
			*into = map[string]string{}
		}
		(*into)[key] = value
	}
	switch {
	case r.member(name):
		if !r.scan.open('{', wantMap) {
			break
		}
		for first := true; r.scan.more('}', first); first = false {
			key := string(r.scan.key())
			if value, ok := r.scan.text(); ok {
				set(key, value)
			}
		}
	case r.asked == inForm:
		// Version 1 of the SDK for Java writes Tags.1.Key.
		for _, prefix := range append(r.form.numbered(r.prefix+inForms), r.form.numbered(r.prefix+name)...) {
			if key, ok := r.form.either(prefix+".Name", prefix+".Key"); ok {
				value, _ := r.form.get(prefix + ".Value")
				set(key, value)
			}
		}
	}
	r.about(name)
}

// entries is the list of a batch: a JSON array of objects, and in a form numbered groups of parameters of another name.
// No more than MaxEntries are kept; the others are counted.
func entries[T any](r *reader, inForms string, into *[]T, fields func(*T, *reader)) {
	const name = "Entries"
	add := func() *T {
		var entry T
		*into = append(*into, entry)
		return &(*into)[len(*into)-1]
	}
	switch {
	case r.member(name):
		*into = nil
		if !r.scan.open('[', wantList) {
			break
		}
		n := 0
		for first := true; r.scan.more(']', first); first = false {
			if n++; n > MaxEntries {
				r.scan.skip()
				continue
			}
			entry := add()
			object(r, func(r *reader) { fields(entry, r) })
		}
		if n > MaxEntries {
			r.fail(TooManyEntriesInBatchRequest(n))
		}
		r.taken = true
	case r.asked == inForm:
		prefixes := r.form.numbered(inForms)
		if len(prefixes) > MaxEntries {
			r.fail(TooManyEntriesInBatchRequest(len(prefixes)))
			return
		}
		outer := r.prefix
		for _, prefix := range prefixes {
			r.prefix = prefix + "."
			fields(add(), r)
		}
		r.prefix = outer
	}
	r.about(name)
}
