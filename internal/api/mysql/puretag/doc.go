// Package puretag says, when hikyaku is built without the tag gms_pure_go, that it has to be built with it. Without the
// tag go-mysql-server wants cgo and the library ICU, and what the compiler prints then helps nobody. It has nothing
// else in it.
//
//	go build -tags gms_pure_go ./...
//	export GOFLAGS=-tags=gms_pure_go   # for a whole session; make does it by itself
package puretag
