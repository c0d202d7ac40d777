package modeltest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// CheckerOf returns the checker for requests to an address of a model's service,
// by the path: chat completions, responses, messages or Gemini's; nil for any
// other, such as a list of models.
func CheckerOf(path string) Checker {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return CheckOpenAI
	case strings.HasSuffix(path, "/responses"):
		return CheckResponses
	case strings.HasSuffix(path, "/messages"):
		return CheckAnthropic
	case strings.HasSuffix(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		return CheckGemini
	}
	return nil
}

// Checked checks each request to a model's service before next answers it. What
// is wrong is reported, with the number of the request, from 1, and its body;
// such a request is answered with the status 400, as a service would. report may
// be called from several goroutines.
func Checked(window int, report func(n int, body []byte, err error), next http.Handler) http.Handler {
	count := make(chan int, 1)
	count <- 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check := CheckerOf(r.URL.Path)
		if check == nil {
			next.ServeHTTP(w, r)
			return
		}
		n := <-count + 1
		count <- n
		body, err := io.ReadAll(r.Body)
		if err != nil {
			err = fmt.Errorf("read the request: %w", err)
		} else {
			err = check(body, window)
		}
		if err != nil {
			report(n, body, err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
