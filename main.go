// Command cairn is a terminal chat with a language-model agent in which
// nothing is lost.
package main

func main() {}
