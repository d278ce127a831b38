// Package interest answers, for a message, who waits for it: the reverse of an index. An index finds the messages that
// meet a condition; a Set finds the conditions that a message meets, and those who named them, the longest waiting
// first.
//
//	var waiting interest.Set
//	waiting.Add(claim, where) // where: a *condition.Expr; nil: everything
//	…
//	for claim := range waiting.Matching(env) { // env: the values of a message that has arrived
//		if takes(claim) {
//			waiting.Remove(claim, where)
//			break
//		}
//	}
//
// It knows no queues, no claims and no locks. Who waits is a number that rises with the time of arrival; what becomes
// of a message is up to the caller, and so is keeping goroutines apart.
//
// # How it finds them
//
// Equal conditions (those of one canonical text) are kept once, with the ids of all who named them. The branches of a
// condition's Plan are filed by shape, that is by the fields of which they ask something. For each shape the message
// has one key, made of the values that have to be equal; under it stand the branches in an interval tree over the field
// of which they ask a range. So a message meets a thousand branches of one shape at the cost of a hash and a few steps
// down a tree. What a plan leaves to its residue is tested once for each distinct condition that is found so, and not
// before its turn comes. A condition that no index serves is found by every message and costs each of them one test.
//
// Trees keep the least id below each branch, and results are made as they are asked for: who wants only the first
// does not pay for the others.
package interest
