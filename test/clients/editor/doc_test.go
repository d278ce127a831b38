// Package editor_test has what hikyaku writes for other programs read by them: the schema of configurations by the
// language server of VS Code's YAML extension, and pictures by Graphviz and Mermaid.
//
// A program that is not installed fails the test; scripts/need-clients node graphviz installs them.
package editor_test
