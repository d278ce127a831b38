package mysql

import (
	"regexp/syntax"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// maxPattern is how many steps a regular expression may have, with what it repeats written out: each takes about 50 bytes, and time for each byte
// that is looked at.
const maxPattern = 50_000

// boundPatterns is a rule of the analyzer: it puts a pattern around what regular expressions are made of, before anything evaluates them. The
// operator REGEXP does not come out of the catalog of functions, where the others are held to their bounds.
func boundPatterns(ctx *gms.Context, _ *analyzer.Analyzer, n gms.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *gms.QueryFlags) (gms.Node, transform.TreeIdentity, error) {
	return boundIn(ctx, n)
}

func boundIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(ctx, n, func(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *plan.Subquery:
			query, same, err := boundIn(ctx, e.Query)
			if err != nil || same == transform.SameTree {
				return e, transform.SameTree, err
			}
			return e.WithQuery(query), transform.NewTree, nil
		case *function.RegexpLike, *function.RegexpInstr, *function.RegexpSubstr, *function.RegexpReplace:
			children := append([]gms.Expression(nil), e.Children()...)
			if _, done := children[1].(*pattern); done {
				return e, transform.SameTree, nil
			}
			children[1] = &pattern{children[1]}
			bound, err := e.WithChildren(ctx, children...)
			return bound, transform.NewTree, err
		}
		return e, transform.SameTree, nil
	})
}

// pattern is the text of a regular expression, which is refused when it would be too large.
type pattern struct{ gms.Expression }

// CollationCoercibility is the text's.
func (p *pattern) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, p.Expression)
}

// Children is the text alone, so that rules see what it is made of.
func (p *pattern) Children() []gms.Expression { return []gms.Expression{p.Expression} }

func (p *pattern) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(p, len(children), 1)
	}
	return &pattern{children[0]}, nil
}

func (p *pattern) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	v, err := p.Expression.Eval(ctx, row)
	if err != nil || v == nil {
		return v, err
	}
	if v, err = gms.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if patternSteps(text64(v)) > maxPattern {
		return nil, sqlError(erRegexpCapacity, "HY000", "The regular expression pattern exceeds limits on size or complexity: it has at most %d steps, with what it repeats written out", maxPattern)
	}
	return v, nil
}

// patternSteps is about how many steps a regular expression is compiled to. What cannot be read is left to whoever says what is wrong with it.
func patternSteps(text string) int64 {
	if len(text) > maxPattern {
		return maxCount
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	return steps(tree)
}

// steps recurses no deeper than the parser lets expressions be: 1,000.
func steps(tree *syntax.Regexp) int64 {
	n := int64(1 + len(tree.Rune))
	for _, part := range tree.Sub {
		n += steps(part)
	}
	if tree.Op == syntax.OpRepeat {
		n = times(n, int64(max(tree.Min, tree.Max, 1)))
	}
	return min(n, maxCount)
}

// boundPatternsID is the rule's number among the analyzer's, which count from 0.
const boundPatternsID analyzer.RuleId = 1 << 20
