// Package bounds looks at a statement's tokens before anything recursive sees it, and refuses what the parser's tree,
// the planner or an evaluator could not bear: a chain of operators is a tree as deep as the chain is long, and Go ends
// the process when a stack is full.
//
//	if err := bounds.Check(query, bounds.Default); err != nil { … } // a *mysql.SQLError with MySQL's number
//
// It counts, and parses nothing. What it counts is never less than what the tree will have:
//
//   - depth: operators and keywords, of one item of a list and of all that it stands in. Lists of any length are flat:
//     rows of an INSERT, an IN.
//   - tokens, for what the planner makes of each;
//   - tables that could be joined with each other, and SELECTs that are put together: the planner's work grows with
//     their square, or worse;
//   - columns that a SELECT selects.
//
// Tokens are those of the parser's own tokenizer, so that no quote or comment can be read in two ways.
package bounds
