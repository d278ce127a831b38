// Package campaign holds the tests that push a whole campaign, from a durable queue through the pipeline and a sink to
// a sandbox that misbehaves, and then account for every message: delivered, rejected with its reason, or dropped; none
// lost, and none twice but where an answer was truly lost. It has no code of its own and nothing imports it. Kills of
// the process are test/crash's.
package campaign
