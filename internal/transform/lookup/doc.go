// Package lookup is the transform that fetches for each message what it needs:
//
//	transforms:
//	  user:
//	    type: lookup
//	    inputs: [campaign]
//	    key: user_id
//	    source: { type: sql, database: users.db, query: "select id, name, token from users where id in (:keys)" }
//
// What was found becomes the field "user" (the component's own name, or into) of the body, which must be a JSON object.
// Messages whose look-ups wait at the same time share one question: the first asks at once, those that come meanwhile
// make up the next one. Nobody waits for company, and N+1 queries become a few.
//
// A look-up that fails never lets its message through: it is tried again, or the message is rejected. A question about
// many keys that is refused is asked again by halves, so that one key that the source cannot digest harms no other.
//
// Order is kept (order: any does without), whatever overtakes what at the source.
package lookup
