package mysql

import (
	"regexp/syntax"
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
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

// boundPatterns is a rule of the analyzer: it makes regular expressions ours, before anything evaluates them. The
// operator REGEXP does not come out of the catalog of functions, where the others are held to their bounds.
func boundPatterns(ctx *gms.Context, _ *analyzer.Analyzer, n gms.Node, _ *plan.Scope, _ analyzer.RuleSelector,
	flags *gms.QueryFlags) (gms.Node, transform.TreeIdentity, error) {
	bound, same, err := boundIn(ctx, n, false)
	if err == nil && flags != nil && flags.SubqueryIsSet() {
		var carries transform.TreeIdentity
		bound, carries, err = carriedIn(ctx, bound)
		same = same && carries
	}
	if err != nil || !analyzer.FlagIsSet(flags, gms.QFlagAggregation) {
		return bound, same, err
	}
	rolled, too, err := rolledIn(ctx, bound)
	if err != nil {
		return nil, too, err
	}
	grouped, also, err := unvaryingIn(ctx, rolled)
	if err != nil {
		return nil, also, err
	}
	exact, alike, err := exactIn(ctx, grouped)
	return exact, same && too && also && alike, err
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
	changed := transform.SameTree
	if !planned {
		var err error
		if n, changed, err = unionsIn(ctx, n); err != nil {
			return nil, changed, err
		}
		var same transform.TreeIdentity
		if n, same, err = conditionsIn(ctx, n); err != nil {
			return nil, same, err
		}
		changed = changed && same
		if n, same, err = assignedIn(ctx, n); err != nil {
			return nil, same, err
		}
		changed = changed && same
	}
	bound, same, err := boundExpressions(ctx, n, planned)
	return bound, same && changed, err
}

func boundExpressions(ctx *gms.Context, n gms.Node, planned bool) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithNodeWithOpaque(ctx, n,
		func(ctx *gms.Context, n gms.Node, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			if top, ok := n.(*plan.TopN); ok && top.Limit == e {
				return e, transform.SameTree, nil // LIMIT and OFFSET together: see sorted
			}
			if sub, ok := e.(*plan.Subquery); ok {
				query, same, err := boundIn(ctx, sub.Query, planned)
				if err == nil && !planned {
					var counted bool
					query, counted, err = oneOrZeroRows(ctx, query)
					same = same && transform.TreeIdentity(!counted)
				}
				if err != nil || same == transform.SameTree {
					return e, transform.SameTree, err
				}
				return sub.WithQuery(query), transform.NewTree, nil
			}
			if ours, ok := regexpsOf(ctx, e); ok {
				return ours, transform.NewTree, nil
			}
			if _, filters := n.(*plan.Filter); filters {
				if rows, ok := notInRowsOf(ctx, e); ok {
					return rows, transform.NewTree, nil
				}
			}
			if bytes, changed, err := bytewiseIn(ctx, e); changed || err != nil {
				return bytes, transform.NewTree, err
			}
			return costIn(ctx, e, planned)
		})
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
