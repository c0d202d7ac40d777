// Command http asks the cairn binary given as its argument for answers of
// services that fail in the ways of real ones, and checks what a person gets:
// the exit code, one plain sentence, in time, and no key anywhere.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// key is sent to every service and must turn up nowhere.
const key = "sk-secret-0123456789abcdef"

// page is what proxies and sign-in pages answer.
const page = `<!doctype html><html><head><title>Somewhere else</title><script>x()</script></head><body><h1>Hello</h1></body></html>`

// scene is a service and what is expected of cairn.
type scene struct {
	name  string
	serve http.HandlerFunc
	// url is used instead of a service.
	url  string
	code int
	// says is part of the last line on the error stream; out is the answer.
	says, out string
	// stop interrupts cairn once its request has arrived.
	stop bool
}

// refusal answers with a status and an error in the format of OpenAI.
func refusal(status int, text, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q,"code":%q}}`, text, code)
	}
}

func html(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprint(w, page)
	}
}

// reply streams a text, and its end if whole.
func reply(w http.ResponseWriter, text string, whole bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
	if whole {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
	w.(http.Flusher).Flush()
}

// silent streams a beginning and then nothing.
func silent(w http.ResponseWriter, r *http.Request) {
	reply(w, "Hel", false)
	<-r.Context().Done()
}

// once refuses the first request.
func once(refuse http.HandlerFunc) http.HandlerFunc {
	asked := 0
	return func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			refuse(w, r)
			return
		}
		reply(w, "fine", true)
	}
}

func scenes(plain string) []scene {
	return []scene{
		{name: "a whole answer", serve: once(refusal(429, "slow down", "rate_limit_exceeded")), code: 0, out: "fine\n", says: "asking again in 1 s"},
		{name: "a page in place of an error", serve: html(502), code: 4, says: "web page"},
		{name: "a page in place of an answer", serve: html(200), code: 4, says: "sign-in page"},
		{name: "a wrong key", serve: refusal(401, "Incorrect API key provided: "+key, "invalid_api_key"), code: 4, says: "check the key"},
		{name: "a forbidden model", serve: refusal(403, "not for you", ""), code: 4, says: "not for you"},
		{name: "an unknown model", serve: refusal(404, "no such model", "model_not_found"), code: 4, says: "cairn models"},
		{name: "too many requests", serve: refusal(429, "slow down", "rate_limit_exceeded"), code: 4, says: "later"},
		{name: "no credit", serve: refusal(429, "You exceeded your current quota", "insufficient_quota"), code: 4, says: "credit"},
		{name: "too long a conversation", serve: refusal(400, "This model's maximum context length is 10 tokens", "context_length_exceeded"), code: 4, says: "larger window"},
		{name: "a redirect", serve: http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound).ServeHTTP, code: 4, says: "redirects to"},
		{name: "nobody there", url: "http://127.0.0.1:1/v1", code: 4, says: "is the server running?"},
		{name: "no such host", url: "http://nowhere.invalid/v1", code: 4, says: "no such host"},
		{name: "no TLS", url: strings.Replace(plain, "http:", "https:", 1), code: 4, says: "does not speak TLS"},
		{name: "silence", serve: silent, code: 130, says: "interrupted", stop: true},
	}
}

func main() {
	plain := httptest.NewServer(html(200))
	defer plain.Close()
	failed := false
	for _, s := range scenes(plain.URL) {
		if err := s.play(os.Args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
	fmt.Println("every failure of a service is one plain sentence")
}

// play runs cairn in a home of its own.
func (s scene) play(binary string) error {
	home, err := os.MkdirTemp("", "http")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	asked := make(chan struct{}, 100)
	if s.serve != nil {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			s.serve(w, r)
		}))
		defer service.Close()
		s.url = service.URL
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-v", "--log", filepath.Join(home, "log"), "-p", "-m", "openai/m", "hello")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + s.url}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	var stopped time.Time
	if s.stop {
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			return errors.Join(errors.New("asked nothing"), cmd.Process.Kill(), cmd.Wait())
		}
		stopped = time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	if took := time.Since(stopped); s.stop && took > time.Second {
		return fmt.Errorf("went on for %s after it was interrupted", took)
	}
	return s.judge(cmd.ProcessState.ExitCode(), out.String(), errs.String(), home)
}

// judge compares what came with what is expected.
func (s scene) judge(code int, out, errs, home string) error {
	lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
	last := lines[len(lines)-1]
	notices := lines[:len(lines)-1]
	switch {
	case code != s.code || out != s.out || !strings.Contains(last, s.says):
		return fmt.Errorf("exit code %d, answer %q, said %q", code, out, errs)
	case strings.ContainsAny(errs, "<>\x1b") || strings.Contains(errs, "/retry") || strings.Contains(errs, "/model"):
		return fmt.Errorf("said %q", errs)
	case strings.Contains(out+errs, key):
		return errors.New("told the key")
	}
	for _, n := range notices {
		if !strings.HasPrefix(n, "cairn: asking again in ") && n != "cairn: the model's window has 10 tokens; making room in the conversation" {
			return fmt.Errorf("said %q by the way", n)
		}
	}
	return filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(key)) {
			err = fmt.Errorf("%s holds the key", path)
		}
		return err
	})
}
