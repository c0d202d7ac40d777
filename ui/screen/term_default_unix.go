//go:build unix

package screen

// defaultTerm is what an unset TERM stands for: nothing can be assumed.
const defaultTerm = ""
