package lines

import "golang.org/x/sys/unix"

// bytesHeld asks how many bytes wait in a pipe.
const bytesHeld = unix.TIOCINQ
