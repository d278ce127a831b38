// Package access says who may do what: users with a secret, and grants on name patterns. It serves every door, so that
// one list of users is a MySQL user and password, a SigV4 key and secret, and a bearer token at the same time.
//
// It knows no protocol: a door reads the credentials out of its own wire format and asks here. It keeps the list it
// was made from, which can be replaced, and who has tried wrong secrets; all of its methods may be called from any
// goroutine.
//
//	users, err := access.New([]access.User{{
//		Name:   "reader",
//		Secret: "s3cret",
//		Grants: []access.Grant{{Can: []string{"take"}, On: []string{"default/news*"}}},
//	}})
//	user, err := users.Token(ctx, access.Attempt{Door: "http", Address: r.RemoteAddr}, bearer)
//	if err != nil || !users.Allowed(user, access.Take, name) { … }
//
// Without users (nil *Users, or an empty list) everyone may do everything, and CheckListen then refuses every address
// but loopback. After Guard, what is Admin is then left to the account that hikyaku runs as, and to root: the kernel
// tells (internal/caller) whose a connection is.
package access
