package screen

import "golang.org/x/sys/unix"

// pendingRequest asks how many bytes wait to be read.
const pendingRequest = unix.TIOCINQ
