package run_test

import (
	"runtime"
	"slices"
	"strings"
	"time"
)

// leftover returns the goroutines that are in code of ours although all tests are
// over, after some patience.
func leftover() []string {
	var left []string
	for range 100 {
		buf := make([]byte, 8<<20)
		left = strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		left = slices.DeleteFunc(left, func(stack string) bool {
			return !strings.Contains(stack, "cairn/") || strings.Contains(stack, "run_test.leftover")
		})
		if len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left
}
