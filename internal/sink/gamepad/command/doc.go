// Package command is what the commands `hikyaku macro` and `hikyaku-pad macro` do, apart from reading their flags: play
// a file, and serve the page.
package command
