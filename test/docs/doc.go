// Package docs holds the tests that keep the documents true. It has no code of its own and nothing imports it.
//
// The pages are README.md, README.ja.md and every .md file of docs, but for generated ones. The tests
//
//   - run every sh block of a page, in order, as one shell session in a temporary folder, with hikyaku built from this
//     tree;
//   - run every go block that begins with package main among them, as a program of its own;
//   - compare what a block prints with the text block after it;
//   - validate every yaml block;
//   - evaluate the tables of examples on the page about conditions;
//   - follow the links between documents;
//   - hold the columns of the tables in the Japanese README aligned.
//
// # How to write a page
//
// Write commands without a prompt. A command that is meant to fail ends in
//
//	|| echo "exit status $?"
//
// A server is started by a line that is hikyaku serve --detach, or hikyaku serve -c FILE --detach, and the page has to
// stop it. A sandbox is a line of its own that ends in &: it is waited for, and stopped with SIGTERM at the end of the
// page, and has to end well. The ports of the documents, such as 7700 and 8085, are replaced by free ones and put back
// in what is printed, so that pages run beside each other and beside a hikyaku in use. A file that serve is given has
// to name its address for that. A line that begins with make is checked against the Makefile; make demo then runs the
// demo.
//
// A yaml block whose first line is a comment with a file's name, such as "# news.yaml", is written to that file. A text
// block that is the next block after an sh block or a program is what that block prints, on both outputs. Ids, times,
// tokens, durations and the widths of columns may differ. In such a block … stands for anything within a line, and a
// line of … alone for any lines. The comment
//
//	<!-- numbers differ -->
//
// before it lets all numbers differ, and
//
//	<!-- not run: the reason -->
//
// before an sh block or a program leaves it out. To write down anew what the blocks print:
//
//	go test ./test/docs -update
package docs
