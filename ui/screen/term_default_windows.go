package screen

// defaultTerm is what an unset TERM stands for: the console sets none.
const defaultTerm = "xterm-256color"
