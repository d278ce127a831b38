// Package fetch asks sources outside the house for rows: SQL databases and HTTP servers. The transforms lookup and
// fanout are built on it.
//
// A question is a text with the names of parameters in it, which are bound when it is asked and never become part of
// the text: ":name" in a query, "{name}" in a URL or a body. ":keys" and "{keys}" stand for any number of values.
//
//	db, err := fetch.NewSQL(fetch.SQL{Database: "users.db", Query: "select id, name from users where id in (:keys)"}, "")
//	if err != nil {
//		return err // a *component.SettingError
//	}
//	defer db.Close()
//	err = db.Ask(ctx, fetch.Params{"keys": {message.Int(7), message.Int(9)}}, func(row fetch.Row) error {
//		name, _ := row.Get("name")
//		…
//	})
//
// Errors of asking tell apart what may pass (component.RetryError: no connection, too busy, a lock, a time-out) and
// what will be the same next time (anything else: a wrong query, a value that does not fit).
//
// It knows nothing of messages' bodies and of pipelines; it caches nothing and tries nothing again.
package fetch
