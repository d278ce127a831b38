// Package fanout is the transform that makes many messages of one: of each row that a query brings, of each item that a
// server answers with, or of each item of a list in the message itself.
//
//	transforms:
//	  users:
//	    type: fanout
//	    inputs: [campaigns]
//	    key: id
//	    start: 0
//	    into: user
//	    source:
//	      type: sql
//	      database: users.db
//	      query: "select id, lang from users where campaign = :campaign and id > :after order by id limit :limit"
//
// The messages leave as they are read, a page at a time, and no faster than the pipeline takes them: memory does not
// depend on how many there are. Each is a message in its own right, with retries and a dead letter of its own. The one
// that they are made of is settled when all of them are.
//
// # What is remembered
//
// Before a page leaves, the identities of its items are kept durably (8 bytes each), and afterwards which of them are
// settled. When the message comes again, after a crash, a time-out of the database or as a replayed dead letter, those
// that were settled are not made again, in whatever order the source brings them now. Those that were under way at a
// crash are made again with the same ids and Origin, so that a queue sink puts none of them twice, and other far ends
// may see them twice.
//
// A query with :after goes on behind the last page of which everything is settled, and what lies before it is
// forgotten. Any other question is asked anew, and its items are remembered to the end.
//
// An item's identity is the value of its field key, which must be different for each; without key it is its place among
// the items, which is right only where the same question always has the same answer.
package fanout
