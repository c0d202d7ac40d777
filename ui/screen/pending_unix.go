//go:build unix && !linux

package screen

// pendingRequest asks how many bytes wait to be read: FIONREAD of the BSDs.
const pendingRequest = 0x4004667f
