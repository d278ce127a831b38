// Package page is the web page that macros are written and played on: a box for the text that says at once what is
// wrong with it and where, a picture of what the macro does, buttons to run and stop it, a pad for each player, and how
// late the frames of each run were.
//
//	p := page.New(page.Config{Start: start, Title: "uinput, 60000/1001/s"})
//	defer p.Close() // stops what is played, and waits until everything is let go
//	http.Serve(listener, p)
//
// It is one page of HTML, one script and one style sheet without anything from elsewhere, and works with a keyboard
// alone, on telephones and with readers of screens. All who look at it see the same: what is played now, and what
// became of the last run.
//
// Whoever reaches the page presses buttons on a device. It is therefore meant for loopback, or a network whose people
// may do that; other web pages in the same browser can do nothing: see guard. It knows no device: Start plays.
package page
