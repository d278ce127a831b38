package wire

// Attribute is an attribute of a message with its name: a string, a number (as text) or bytes, by its data type.
type Attribute struct {
	Name string
	// String, Number or Binary, perhaps with a custom ending: Number.float; "" when the request left it out
	DataType string
	// Text is the value of a String or Number, with HasText.
	Text    string
	HasText bool
	// Binary is the value of a Binary; not nil when the request had one, also an empty one.
	Binary []byte
	// Lists says that the request had StringListValues or BinaryListValues that are not empty: SQS refuses them.
	Lists bool
}

// TextAttribute is an attribute with a String or Number value.
func TextAttribute(name, dataType, text string) Attribute {
	return Attribute{Name: name, DataType: dataType, Text: text, HasText: true}
}

// BinaryAttribute is an attribute with a Binary value. It keeps the slice.
func BinaryAttribute(name, dataType string, value []byte) Attribute {
	if value == nil {
		value = []byte{}
	}
	return Attribute{Name: name, DataType: dataType, Binary: value}
}

// Size is what the attribute counts against the maximum size of a message: name, data type and value, in bytes.
func (a *Attribute) Size() int { return len(a.Name) + len(a.DataType) + len(a.Text) + len(a.Binary) }

// Setting is a name with a text: an attribute of a queue, a system attribute of a message, a tag.
type Setting struct{ Name, Value string }

// MaxAttributes is how many attributes a message may have. Decode keeps one more, so that a message with too many can
// be told.
const MaxAttributes = 10

// attributes is a parameter with message attributes: a JSON object of objects, and in a form numbered groups of
// parameters of another name.
func (r *reader) attributes(name, inForms string, into *[]Attribute) {
	switch {
	case r.member(name):
		*into = nil
		if !r.scan.open('{', wantMap) {
			break
		}
		for first := true; r.scan.more('}', first); first = false {
			key := string(r.scan.key())
			a := place(into, key)
			if a == nil {
				r.scan.skip()
				continue
			}
			object(r, a.fields)
		}
		r.taken = true
	case r.asked == inForm:
		outer := r.prefix
		for _, prefix := range r.form.numbered(outer + inForms) {
			key, _ := r.form.get(prefix + ".Name")
			if a := place(into, key); a != nil {
				r.prefix = prefix + ".Value."
				a.fields(r)
			}
		}
		r.prefix = outer
	}
	r.about(name)
}

// place returns where an attribute of that name goes: a later one replaces an earlier one. It is nil when there are too
// many.
func place(into *[]Attribute, name string) *Attribute {
	for i := range *into {
		if (*into)[i].Name == name {
			(*into)[i] = Attribute{Name: name}
			return &(*into)[i]
		}
	}
	if len(*into) > MaxAttributes {
		return nil
	}
	*into = append(*into, Attribute{Name: name})
	return &(*into)[len(*into)-1]
}

func (a *Attribute) fields(r *reader) {
	r.text("DataType", &a.DataType)
	text := Opt[string]{Value: a.Text, Set: a.HasText}
	r.optText("StringValue", &text)
	a.Text, a.HasText = text.Value, text.Set
	r.blob("BinaryValue", &a.Binary)
	r.lists("StringListValues", "StringListValue", &a.Lists)
	r.lists("BinaryListValues", "BinaryListValue", &a.Lists)
}

// lists notes whether a list that SQS knows and refuses has something in it.
func (r *reader) lists(name, inForms string, some *bool) {
	switch {
	case r.member(name):
		if !r.scan.open('[', wantList) {
			break
		}
		for first := true; r.scan.more(']', first); first = false {
			r.scan.skip()
			*some = true
		}
	case r.asked == inForm:
		*some = *some || len(r.form.numbered(r.prefix+inForms)) > 0
	}
	r.about(name)
}
