// Package conformance runs programs that try a real client against a real hikyaku. A program does one check after the
// other and prints a line for each, "ok NAME" or "not ok NAME: why"; the test that runs it demands that just the checks
// of its list ran, once each, and that all are ok. So a program that ends early, or leaves something out, fails.
//
//	server := conformance.Serve(t, binary, config, "mysql")
//	program := conformance.Program{Name: "node-mysql2", Needs: []string{"node", "-e", "require('mysql2')"}, Command: []string{"node", "conformance.js"}}
//	program.Check(t, []string{"connect", "ping"}, "CLIENT_ADDRESS="+server.Address)
//
// It is for the tests below test/clients and for nothing else.
package conformance
