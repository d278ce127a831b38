package bounds

import (
	"math/bits"
	"strings"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// maxDoublings is how often within each other a statement may have what the evaluator evaluates more than once: a is
// evaluated twice in a BETWEEN b AND c and in NULLIF(a, b), and in CASE a WHEN … once for each WHEN. Each within the
// next doubles the work, and none of it can be interrupted.
const maxDoublings = 10

// doublings follows them through the tokens of a statement.
type doublings struct {
	open   []nest
	before int  // the token before
	nullif bool // it is the name of that function
}

// nest is an open parenthesis, or an open CASE, or what is outside of all.
type nest struct {
	of    nesting
	item  int // doublings in the item that is read
	most  int // in those before it
	whens int // of a CASE with an operand
	first int // doublings in the operand
}

type nesting uint8

const (
	parenthesis nesting = iota
	ofNullif
	ofCase
	ofOperandCase // a CASE with an operand
)

// take counts a token.
func (d *doublings) take(token int, text []byte) error {
	if d.open == nil {
		d.open = make([]nest, 1, 16)
	}
	top := &d.open[len(d.open)-1]
	switch token {
	case '(':
		of := parenthesis
		if d.nullif {
			of = ofNullif
		}
		d.open = append(d.open, nest{of: of})
	case ')':
		for len(d.open) > 1 && d.top().of >= ofCase { // one without END: the parser will say so
			d.end()
		}
		d.end()
	case sqlparser.CASE:
		d.open = append(d.open, nest{of: ofCase})
	case sqlparser.WHEN:
		if top.of == ofCase && top.whens == 0 && d.before != sqlparser.CASE {
			top.of, top.first = ofOperandCase, max(top.item, top.most)
		}
		top.whens++
		top.next()
	case sqlparser.END:
		if top.of >= ofCase {
			d.end()
		}
	case sqlparser.BETWEEN:
		top.item++
	case ',', sqlparser.AND, sqlparser.OR, sqlparser.XOR, sqlparser.THEN, sqlparser.ELSE, sqlparser.SELECT,
		sqlparser.FROM, sqlparser.WHERE, sqlparser.GROUP, sqlparser.HAVING, sqlparser.ORDER, sqlparser.ON,
		sqlparser.UNION:
		top.next()
	}
	d.before, d.nullif = token, len(text) == len("nullif") && strings.EqualFold(string(text), "nullif")
	if d.top().item > maxDoublings {
		return vmysql.NewSQLError(erStackOverrun, "HY000", "More than %d of BETWEEN, NULLIF and CASE … WHEN are "+
			"within each other, in the value that these look at: each evaluates it more than once", maxDoublings)
	}
	return nil
}

func (d *doublings) top() *nest { return &d.open[len(d.open)-1] }

// next begins another item, beside the one before.
func (n *nest) next() { n.item, n.most = 0, max(n.item, n.most) }

// end closes what is open: it is a part of the item around it.
func (d *doublings) end() {
	if len(d.open) == 1 {
		return
	}
	n := *d.top()
	d.open = d.open[:len(d.open)-1]
	inside := max(n.item, n.most)
	switch n.of {
	case ofNullif:
		inside++
	case ofOperandCase:
		inside = max(inside, n.first+bits.Len(uint(max(n.whens, 1)-1)))
	}
	d.top().item = max(d.top().item, inside)
}
