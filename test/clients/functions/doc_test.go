// Package functions_test runs functions on the provider's own clients of the Runtime API, in Go, Java, Node.js and
// Python, under package function: the programs that a function on AWS consists of besides its code, unchanged.
//
// scripts/need-clients makes a folder that can be deployed for each of them in .cache/clients/functions/code; what is
// missing fails the tests. README.md tells more.
package functions_test
