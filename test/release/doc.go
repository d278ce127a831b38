// Package release holds the test that makes a release of this system and uses it. It has no code of its own and nothing
// imports it.
package release
