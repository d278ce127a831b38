//go:build !race

package javascript

// maxMemory is what a process may have of its own: heap, stacks and all else that is not a file's.
const maxMemory = 320 << 20
