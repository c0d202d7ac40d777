// Package enginetest runs the program itself on engines that several processes
// share: chats, workers and whoever looks, each a process of its own. The one
// thing to know: it has only tests.
package enginetest
