package bucket_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gocloud.dev/blob/memblob"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
)

// sum is the sha256 of text in hexadecimal.
func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// swapping returns the store as one that swaps.
func swapping(t *testing.T, s snapshot.Store) snapshot.Swapper {
	t.Helper()
	swaps, ok := s.(snapshot.Swapper)
	if !ok {
		t.Fatalf("%T does not swap", s)
	}
	return swaps
}

func TestSwapsOnlyWhatItsWriterHasSeen(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(t *testing.T) string{
		"s3":           func(t *testing.T) string { return "s3://snapshots/mine?endpoint=" + server(t) },
		"another host": otherAddress,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, address(t))
			swaps := swapping(t, s)
			for _, step := range []struct {
				was, put string
				lost     bool
			}{
				{sum("none"), "a", true},
				{"", "a", false},
				{"", "b", true},
				{sum("b"), "c", true},
				{sum("a"), "b", false},
				{sum("a"), "b", true},
				{sum("b"), "", false},
				{sum(""), "d", false},
			} {
				if err := swaps.Swap(t.Context(), "session-x.json", step.was, []byte(step.put)); errors.Is(err, harness.ErrLost) != step.lost || (err == nil) == step.lost {
					t.Fatalf("%+v gives %v", step, err)
				}
			}
			if err := s.Replace(t.Context(), "session-x.json", []byte("theirs")); err != nil {
				t.Fatal(err)
			}
			if err := swaps.Swap(t.Context(), "session-x.json", sum("d"), []byte("mine")); !errors.Is(err, harness.ErrLost) {
				t.Errorf("over what somebody else saved it gives %v", err)
			}
			if err := s.Delete(t.Context(), "session-x.json"); err != nil {
				t.Fatal(err)
			}
			if err := swaps.Swap(t.Context(), "session-x.json", sum("theirs"), []byte("mine")); !errors.Is(err, harness.ErrLost) {
				t.Errorf("over nothing it gives %v", err)
			}
		})
	}
}

// Of writers that saw the same object one wins each time, so that none of what
// they add is lost.
func TestWritersAtTheSameTimeLoseNothing(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(t *testing.T) string{
		"s3":           func(t *testing.T) string { return "s3://snapshots?endpoint=" + server(t) },
		"another host": otherAddress,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := address(t)
			s := open(t, address)
			if err := s.Replace(t.Context(), "k", nil); err != nil {
				t.Fatal(err)
			}
			const writers, each = 4, 8
			var lost atomic.Int64
			var all sync.WaitGroup
			for n := range writers {
				mine := open(t, address)
				all.Go(func() {
					for added := 0; added < each; {
						now, err := mine.Get(t.Context(), "k")
						if err != nil {
							t.Error(err)
							return
						}
						switch err := mine.(snapshot.Swapper).Swap(t.Context(), "k", sum(string(now)), append(now, byte('a'+n))); {
						case err == nil:
							added++
						case errors.Is(err, harness.ErrLost):
							lost.Add(1)
						default:
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			got, err := s.Get(t.Context(), "k")
			for n := range writers {
				if left := strings.Count(string(got), string(rune('a'+n))); err != nil || left != each {
					t.Errorf("%d are left of the %d of writer %d, %v", left, each, n, err)
				}
			}
			t.Logf("%d of %d tries lost", lost.Load(), lost.Load()+writers*each)
		})
	}
}

// A write whose answer gets lost is repeated by the client. The second one finds
// what the first one wrote, which is nobody else's.
func TestLostAnswerIsNotALostSwap(t *testing.T) {
	t.Parallel()
	for name, was := range map[string]string{"an object": "old", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := server(t)
			var armed atomic.Bool
			front := dropping(t, behind, &armed)
			seen := ""
			s := open(t, "s3://snapshots?endpoint="+front)
			if was != "" {
				seen = sum(was)
				if err := s.Replace(t.Context(), "k", []byte(was)); err != nil {
					t.Fatal(err)
				}
			}
			armed.Store(true)
			if err := swapping(t, s).Swap(t.Context(), "k", seen, []byte("new")); err != nil {
				t.Fatal(err)
			}
			if armed.Load() {
				t.Error("no answer was dropped")
			}
			if got, err := s.Get(t.Context(), "k"); err != nil || string(got) != "new" {
				t.Errorf("it holds %q, %v", got, err)
			}
		})
	}
}

// dropping returns the address of a server before another one, which does what is
// asked and drops the answer to the first write once it is armed.
func dropping(t *testing.T, behind string, armed *atomic.Bool) string {
	t.Helper()
	u, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodPut && armed.CompareAndSwap(true, false) {
				return errors.New("dropped")
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return front.URL
}

func TestServerWithoutConditionsIsLookedAt(t *testing.T) {
	t.Parallel()
	behind, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Match") != "" || r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = fmt.Fprint(w, `<Error><Code>NotImplemented</Code></Error>`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := open(t, "s3://snapshots?endpoint="+front.URL)
	if err := s.Put(t.Context(), "artifacts/session-x/aa", []byte("data")); err != nil {
		t.Error(err)
	}
	swaps := swapping(t, s)
	if err := swaps.Swap(t.Context(), "k", "", []byte("1")); err != nil {
		t.Error(err)
	}
	if err := swaps.Swap(t.Context(), "k", sum("1"), []byte("2")); err != nil {
		t.Error(err)
	}
	if err := swaps.Swap(t.Context(), "k", sum("1"), []byte("3")); !errors.Is(err, harness.ErrLost) {
		t.Errorf("over another object it gives %v", err)
	}
}

func TestOnlyWhatCanSwapSaysSo(t *testing.T) {
	t.Parallel()
	if _, ok := bucket.New(memblob.OpenBucket(nil), "memory").(snapshot.Swapper); ok {
		t.Error("a bucket whose driver cannot swap says that it can")
	}
	plain, err := snapshot.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	_, want := plain.(snapshot.Swapper)
	if _, ok := open(t, "mem://").(snapshot.Swapper); ok != want {
		t.Errorf("memory swaps: %t, opened here: %t", want, ok)
	}
}

// What is larger than one request is uploaded in parts, which appear at once too.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(t *testing.T) string{
		"s3":           func(t *testing.T) string { return "s3://snapshots?endpoint=" + server(t) },
		"another host": otherAddress,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, address(t))
			large := strings.Repeat("0123456789abcdef", 17<<16)
			if err := s.Put(t.Context(), "artifacts/session-x/aa", []byte(large)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Get(t.Context(), "artifacts/session-x/aa"); err != nil || string(got) != large {
				t.Errorf("%d bytes of %d, %v", len(got), len(large), err)
			}
			swaps := swapping(t, s)
			for _, step := range []struct {
				was, put string
				lost     bool
			}{{"", large, false}, {"", "b", true}, {sum(large), large + "more", false}, {sum(large), "b", true}} {
				if err := swaps.Swap(t.Context(), "k", step.was, []byte(step.put)); errors.Is(err, harness.ErrLost) != step.lost || (err == nil) == step.lost {
					t.Fatalf("%d bytes give %v", len(step.put), err)
				}
			}
			if got, err := s.Get(t.Context(), "k"); err != nil || string(got) != large+"more" {
				t.Errorf("%d bytes of %d, %v", len(got), len(large)+4, err)
			}
		})
	}
}
