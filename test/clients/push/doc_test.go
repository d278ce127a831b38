// Package push_test lets far ends of others judge what hikyaku sends to phones: pushy's MockApnsServer, whose handlers
// check tokens, topics and signatures by pushy's own code, and nghttpd, for the HTTP/2 below. The sender is the real
// program with a sink of type apns. The other way round, Google's libraries for Python and Node judge the sandbox
// for FCM.
//
// The programs in java are also what bench push compares with: the senders of a field report on pushy, pushy's steady
// state, and its server. scripts/need-clients compiles them into .cache/clients/push, and installs nghttpd; what is
// missing fails the tests. README.md tells more.
package push_test
