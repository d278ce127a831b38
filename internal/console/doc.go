// Package console is the page of a server: what is going on, where messages wait and why, what is in a message and
// where it has been, and the acts of an operator.
//
//	page := console.New(console.Config{Door: door}) // the HTTP door's operations
//	http.Handle(console.Base, page)
//
// It knows nothing that the door's operations do not tell. Each page asks them, in this process, as the user who looks:
// so everybody sees and does what his grants say, within the bounds of the door, and each page can say which command
// tells the same in a terminal.
//
// Pages are made on the server from templates, and can be read without scripts. One script of ours then keeps what is
// live up to date over one event stream a page: see view. Nothing comes from elsewhere, and the page of another origin
// can do nothing: the door refuses its requests, no page may frame these, and no act is a GET.
package console
