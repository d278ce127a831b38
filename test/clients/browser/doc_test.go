// Package browser_test drives hikyaku's web pages with a real browser: Chromium without a window, told what to do over
// a pipe in its DevTools protocol, which needs no driver and no library. scripts/need-clients installs it.
//
//	go test ./test/clients/browser -run 'MacroIsWritten|PagesFit' -update
//
// draws the pictures of the pages in docs/pictures anew.
//
// The browser writes, presses keys and buttons and reads what stands on the page; what was pressed on the pad is read
// from a trace. The pages of a server, the console, are those of `hikyaku serve`.
package browser_test
