package vrl

// expr is a part of a program. In VRL all is an expression, also an assignment.
type expr interface{}

type (
	literal struct{ jq string } // a number, a truth value, null
	str     struct{ text string }
	regex   struct{ text string }
	when    struct{ text string } // a time
	// path is a field of the event, where root is "", or of a variable.
	path struct {
		root  string
		steps []step
	}
	step struct {
		name string
		at   expr // an index; nil: it is the name that counts
	}
	call struct {
		name    string
		args    []arg
		closure *closure
	}
	arg struct {
		name  string
		value expr
	}
	closure struct {
		params []string
		body   []expr
	}
	binary struct {
		op   string
		x, y expr
	}
	not    struct{ x expr }
	object struct {
		names  []string
		values []expr
	}
	array struct{ items []expr }
	cond  struct {
		test       expr
		yes, other []expr // other is nil without an else
	}
	assign struct {
		target path
		failed *path // in "value, err = …"
		merge  bool  // |=
		value  expr
	}
)

// variable tells whether a path is no more than the name of a variable.
func (p path) variable() bool { return p.root != "" && len(p.steps) == 0 }

// event tells whether a path is the whole event.
func (p path) event() bool { return p.root == "" && len(p.steps) == 0 }

// field is the name of the event's field that a path is; ok is false if it is anything else.
func (p path) field() (name string, ok bool) {
	if p.root != "" || len(p.steps) != 1 || p.steps[0].at != nil {
		return "", false
	}
	return p.steps[0].name, true
}

// value is the argument of a name, or else the one at a place.
func (c call) value(i int, name string) expr {
	for _, a := range c.args {
		if a.name == name {
			return a.value
		}
	}
	for _, a := range c.args {
		if a.name != "" {
			continue
		}
		if i == 0 {
			return a.value
		}
		i--
	}
	return nil
}
