package backup

import "golang.org/x/sys/windows"

const errReadOnly = windows.ERROR_WRITE_PROTECT
