// Package clients_test holds the spans of hikyaku to what OpenTelemetry's own programs make of them: a collector takes
// them, and clients with its SDKs begin the traces.
//
// The collector is made of that project's parts (collector), and hands on what it gets as JSON. What is not installed
// fails the test; scripts/need-clients installs it, and `make test` runs it.
package clients_test
