package mysql

import (
	"regexp/syntax"
	"sync"
	"sync/atomic"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// maxPattern is how many steps a regular expression may have, with what it repeats written out: each takes about 50
// bytes, and time for each byte that is looked at.
const maxPattern = 50_000

// maxMatching is the most that a regular expression may have to do with one text: its steps, the dearer the more it
// captures and the more of them are choices, for each byte. The library that looks cannot be interrupted; on a slow
// processor this is most of a second.
const maxMatching = 100_000_000

// boundPatterns is a rule of the analyzer: it puts a pattern around what regular expressions are made of, before
// anything evaluates them. The operator REGEXP does not come out of the catalog of functions, where the others are held
// to their bounds.
func boundPatterns(ctx *gms.Context, _ *analyzer.Analyzer, n gms.Node, _ *plan.Scope, _ analyzer.RuleSelector,
	flags *gms.QueryFlags) (gms.Node, transform.TreeIdentity, error) {
	bound, same, err := boundIn(ctx, n, false)
	if err != nil || !analyzer.FlagIsSet(flags, gms.QFlagAggregation) {
		return bound, same, err
	}
	grouped, also, err := unvaryingIn(ctx, bound)
	if err != nil {
		return nil, also, err
	}
	exact, alike, err := exactIn(ctx, grouped)
	return exact, same && also && alike, err
}

// noShortcuts keeps the analyzer from a way around boundPatterns: it has a shorter one for a SELECT of a single table,
// which evaluates what a WHERE is made of first, and is not taken where there are rules of others.
var noShortcuts = sync.OnceFunc(func() {
	always := &analyzer.AlwaysBeforeDefault
	*always = append(*always, analyzer.Rule{Id: boundPatternsID, Apply: boundSimple})
})

// boundSimple is boundPatterns but for the values of an INSERT, which are evaluated when its rows are made.
func boundSimple(
	ctx *gms.Context, a *analyzer.Analyzer, n gms.Node, scope *plan.Scope, sel analyzer.RuleSelector,
	flags *gms.QueryFlags,
) (gms.Node, transform.TreeIdentity, error) {
	if _, ok := n.(*plan.InsertInto); ok {
		return n, transform.SameTree, nil
	}
	return boundPatterns(ctx, a, n, scope, sel, flags)
}

func boundIn(ctx *gms.Context, n gms.Node, planned bool) (gms.Node, transform.TreeIdentity, error) {
	alike, changed, err := unionsIn(ctx, n)
	if err != nil {
		return nil, changed, err
	}
	bound, same, err := boundExpressions(ctx, alike, planned)
	return bound, same && changed, err
}

func boundExpressions(ctx *gms.Context, n gms.Node, planned bool) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithNodeWithOpaque(ctx, n,
		func(ctx *gms.Context, n gms.Node, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			if top, ok := n.(*plan.TopN); ok && top.Limit == e {
				return e, transform.SameTree, nil // LIMIT and OFFSET together: see sorted
			}
			switch e := e.(type) {
			case *plan.Subquery:
				query, same, err := boundIn(ctx, e.Query, planned)
				if err != nil || same == transform.SameTree {
					return e, transform.SameTree, err
				}
				return e.WithQuery(query), transform.NewTree, nil
			case *function.RegexpLike, *function.RegexpInstr, *function.RegexpSubstr, *grown:
				if g, ok := e.(*grown); ok && g.name != "regexp_replace" {
					return costIn(ctx, e, planned)
				}
				children := append([]gms.Expression(nil), e.Children()...)
				if isSeen[pattern](children[1]) {
					return e, transform.SameTree, nil
				}
				effort := new(matching)
				children[0] = &seen[subject]{spelt(ctx, children[:1])[0], subject{effort}}
				children[1] = &seen[pattern]{children[1], pattern{effort}}
				switch e.(type) {
				case *function.RegexpInstr, *function.RegexpSubstr:
					children[2] = &seen[beginning]{children[2], beginning{effort}}
				}
				bound, err := e.WithChildren(ctx, children...)
				return bound, transform.NewTree, err
			}
			return costIn(ctx, e, planned)
		})
}

// matching is what one regular expression and the text that it looks at cost together, whichever is known first.
type matching struct{ steps, bytes, units atomic.Int64 }

func (m *matching) check() error {
	if times(m.steps.Load(), m.bytes.Load()) <= maxMatching {
		return nil
	}
	return sqlError(erRegexpCapacity, "HY000", "The regular expression pattern exceeds limits on size or complexity: "+
		"%d steps (those that capture or choose count more) for each of %d bytes, together at most %d",
		m.steps.Load(), m.bytes.Load(), maxMatching)
}

// subject looks at a text that a regular expression is to look at, and refuses it when that would take too long.
type subject struct{ effort *matching }

func (s subject) look(_ *gms.Context, v any) (any, error) {
	s.effort.bytes.Store(valueBytes(v))
	s.effort.units.Store(units(v))
	return v, s.effort.check()
}

// pattern looks at the text of a regular expression, and refuses it when it would be too large.
type pattern struct{ effort *matching }

func (p pattern) look(_ *gms.Context, v any) (any, error) {
	count, cost := patternSteps(text64(v))
	if count > maxPattern {
		return nil, sqlError(erRegexpCapacity, "HY000", "The regular expression pattern exceeds limits on size or "+
			"complexity: it has at most %d steps, with what it repeats written out", maxPattern)
	}
	p.effort.steps.Store(cost)
	return v, p.effort.check()
}

const (
	// capturesStep is how many groups cost as much as a step: for each step that it takes the library copies where they
	// all are.
	capturesStep = 8
	// choiceSteps is what a choice (a star, an alternative) costs beside a step: after each byte the library follows
	// all ways that go on from there.
	choiceSteps = 6
)

// patternSteps is about how many steps a regular expression is compiled to, and what a byte of a text costs it, in
// steps. What cannot be read is left to whoever says what is wrong with it.
func patternSteps(text string) (count, cost int64) {
	if len(text) > maxPattern {
		return maxCount, maxCount
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, 0
	}
	count, choices := steps(tree)
	return count, times(count+times(choices, choiceSteps), 1+int64(tree.MaxCap())/capturesStep)
}

// steps recurses no deeper than the parser lets expressions be: 1,000.
func steps(tree *syntax.Regexp) (count, choices int64) {
	count = int64(1 + len(tree.Rune))
	switch tree.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		choices = 1
	case syntax.OpAlternate:
		choices = int64(len(tree.Sub))
	}
	for _, part := range tree.Sub {
		n, more := steps(part)
		count, choices = count+n, choices+more
	}
	if tree.Op == syntax.OpRepeat {
		often := int64(max(tree.Min, tree.Max, 1))
		count, choices = times(count, often), times(choices, often)
	}
	return min(count, maxCount), min(choices, maxCount)
}

// boundPatternsID is the rule's number among the analyzer's, which count from 0.
const boundPatternsID analyzer.RuleId = 1 << 20
