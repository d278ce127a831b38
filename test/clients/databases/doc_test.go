// Package databases_test runs fan-outs and look-ups over real servers of PostgreSQL and MariaDB, which it starts itself
// in folders of their own: what their values become, and what happens when they go away in the middle of a campaign and
// come back; and pipelines whose sinks write into them.
//
// A server that is not installed fails the test; scripts/need-clients installs both, and `make test` runs it.
package databases_test
