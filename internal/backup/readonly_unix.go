//go:build unix

package backup

import "syscall"

const errReadOnly = syscall.EROFS
