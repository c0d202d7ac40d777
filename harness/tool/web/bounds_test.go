package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// zip packs data.
func zip(t *testing.T, data io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// endless is a reader of one letter.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	n := copy(p, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
	for done := n; done < len(p); done *= 2 {
		n += copy(p[done:], p[:done])
	}
	return n, nil
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	bomb := zip(t, io.LimitReader(endless{}, 2*maxBody))
	// Members of a packed stream that unpack to nothing.
	nothing := bytes.Repeat(zip(t, strings.NewReader("")), maxBody/20)
	sent := make(chan int64, 1)
	handlers := map[string]http.HandlerFunc{
		"/endless": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			n, _ := io.Copy(w, io.LimitReader(endless{}, 1<<30))
			sent <- n
		},
		"/bomb": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		},
		"/nothing": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(nothing)
		},
		"/packed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zip(t, strings.NewReader("small")))
		},
		"/broken": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zip(t, strings.NewReader("small"))[:12])
		},
		"/header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeader))
		},
	}
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { handlers[r.URL.Path](w, r) })
	const rest = "the rest was not read"
	for path, c := range map[string]struct {
		want   string
		failed bool
	}{
		"/endless": {rest, false},
		"/bomb":    {rest, false},
		"/nothing": {rest, false},
		"/packed":  {"\n\nsmall", false},
		"/broken":  {"read the answer", true},
		"/header":  {"fetch " + at + "/header", true},
	} {
		r := get(t, private, fetchIn{URL: at + path})
		if r.Failed != c.failed || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: failed %t, got %.200q", path, r.Failed, r.Text)
		}
	}
	if n := <-sent; n > 200<<20 {
		t.Errorf("%d bytes were taken of an endless answer", n)
	}
}

func TestSlowAnswersEnd(t *testing.T) {
	t.Parallel()
	for name, drip := range map[string]func(net.Conn) error{
		"no answer": func(net.Conn) error { return nil },
		"slow headers": func(c net.Conn) error {
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for i := 0; err == nil; i++ {
				time.Sleep(time.Second)
				_, err = fmt.Fprintf(c, "X-%d: y\r\n", i)
			}
			return err
		},
		"a slow body": func(c net.Conn) error {
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n")
			for err == nil {
				time.Sleep(time.Second)
				_, err = io.WriteString(c, "x")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				dial := func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						defer close(ended)
						if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
							_ = drip(there)
							_, _ = io.Copy(io.Discard, there)
						}
						_ = there.Close()
					}()
					return here, nil
				}
				f := newFetcher(Options{Dial: dial})
				began := time.Now()
				text, err := f.fetch(t.Context(), fetchIn{URL: "http://192.88.98.1/"})
				if !errors.Is(err, ErrTimeout) || text != "" || time.Since(began) != DefaultTimeout {
					t.Errorf("got %q, %v after %s", text, err, time.Since(began))
				}
				<-ended
			})
		})
	}
}
