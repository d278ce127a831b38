// Package syslog_test runs senders of syslog, logger and rsyslog, against the real program with a source of syslog.
//
// A sender that is not installed fails the test; scripts/need-clients syslog installs them.
package syslog_test
