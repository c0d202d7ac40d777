package keyring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	zalando "github.com/zalando/go-keyring"
)

const sample = "sk-ant-0123456789abcdef"

var errMissing = errors.New("nothing there")

// ring is a keyring in memory.
type ring struct {
	mu   sync.Mutex
	kept map[string]string
	asks int
	err  error
	hang time.Duration
}

func (r *ring) do(f func() (string, error)) (string, error) {
	time.Sleep(r.hang)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asks++
	if r.err != nil {
		return "", r.err
	}
	if r.kept == nil {
		r.kept = map[string]string{}
	}
	return f()
}

func (r *ring) Set(service, user, secret string) error {
	_, err := r.do(func() (string, error) { r.kept[service+"/"+user] = secret; return "", nil })
	return err
}

func (r *ring) Get(service, user string) (string, error) {
	return r.do(func() (string, error) {
		if s, ok := r.kept[service+"/"+user]; ok {
			return s, nil
		}
		return "", errMissing
	})
}

func (r *ring) Delete(service, user string) error {
	_, err := r.do(func() (string, error) { delete(r.kept, service+"/"+user); return "", nil })
	return err
}

func (*ring) Missing(err error) bool { return errors.Is(err, errMissing) }

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "cairn", FileName) }

func TestAKeyIsInTheKeyringAndTheFileOnlySaysSo(t *testing.T) {
	t.Parallel()
	r, path := &ring{}, file(t)
	k := New(Options{File: path, Ring: r})
	at, err := k.Set(t.Context(), "anthropic", "  "+sample+"\n")
	if err != nil || at != InRing || r.kept["cairn/anthropic"] != sample {
		t.Fatalf("kept in %q, %v; the ring has %v", at, err, r.kept)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), sample) {
		t.Fatalf("%v: the file holds the key:\n%s", err, data)
	}
	again := New(Options{File: path, Ring: r})
	asked := r.asks
	if from := again.Where("anthropic"); from != string(InRing) || r.asks != asked {
		t.Errorf("it is in %q, and the ring was asked %d times", from, r.asks-asked)
	}
	for range 2 {
		if key, err := again.Key(t.Context(), "anthropic"); key != sample || err != nil {
			t.Errorf("got %q, %v", key, err)
		}
	}
	if r.asks != asked+1 {
		t.Errorf("the ring was asked %d times for one key", r.asks-asked)
	}
}

func TestWithoutAKeyringAKeyIsInAFileForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Ring{"none": nil, "one that refuses": &ring{err: errors.New("refused " + sample)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			if at, err := New(Options{File: path, Ring: r}).Set(t.Context(), "openai", "sk-first-0123456789"); at != InFile || err != nil {
				t.Fatalf("kept in %q, %v", at, err)
			}
			k := New(Options{File: path, Ring: r})
			if at, err := k.Set(t.Context(), "anthropic", sample); at != InFile || err != nil {
				t.Fatalf("kept in %q, %v", at, err)
			}
			info, err := os.Stat(path)
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			for provider, want := range map[string]string{"openai": "sk-first-0123456789", "anthropic": sample} {
				if key, err := New(Options{File: path}).Key(t.Context(), provider); key != want || err != nil {
					t.Errorf("%s has %q, %v", provider, key, err)
				}
			}
			if at, err := k.Remove(t.Context(), "openai"); at != InFile || err != nil {
				t.Errorf("removed from %q, %v", at, err)
			}
			if _, err := k.Key(t.Context(), "openai"); !errors.Is(err, ErrNoKey) {
				t.Errorf("after it was removed: %v", err)
			}
			if key, err := k.Key(t.Context(), "anthropic"); key != sample {
				t.Errorf("the other one is gone: %v", err)
			}
		})
	}
}

func TestAKeyOfAnotherWindowIsSeen(t *testing.T) {
	t.Parallel()
	path := file(t)
	here := New(Options{File: path})
	if from := here.Where("anthropic"); from != "" {
		t.Fatalf("there is one in %q", from)
	}
	if _, err := New(Options{File: path}).Set(t.Context(), "anthropic", sample); err != nil {
		t.Fatal(err)
	}
	if key, err := here.Key(t.Context(), "anthropic"); key != sample || err != nil {
		t.Errorf("got %q, %v", key, err)
	}
}

func TestAFileThatOthersCanReadIsNotUsed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such mode there")
	}
	path := file(t)
	k := New(Options{File: path})
	if _, err := k.Set(t.Context(), "anthropic", sample); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if k.Where("anthropic") != "" || !strings.Contains(k.Fault(), "chmod 600 "+path) {
		t.Errorf("%q, %q", k.Where("anthropic"), k.Fault())
	}
	if _, err := k.Set(t.Context(), "openai", sample); err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), sample) {
		t.Errorf("a further key: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := k.Key(t.Context(), "anthropic"); key != sample {
		t.Errorf("mended: %v", err)
	}
}

func TestABrokenFileIsToldByItsLineAndNeverRepeated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[providers.openai]\napi_key = " + sample + "\n":              "line 2",
		"[providers.openai]\n\napi_kye = \"" + sample + "\"\n":        "line 3 has a key that is not known",
		"[providers.openai]\napi_key = [\"" + sample + "\"]\n":        "line 2",
		"[providers.openai]\napi_key = \"" + sample + "\nkeyring = 1": "line 2",
	} {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k := New(Options{File: path})
		if got := k.Fault(); !strings.Contains(got, want) || strings.Contains(got, sample) {
			t.Errorf("%q: %s", text, got)
		}
		if _, err := k.Set(t.Context(), "openai", sample); err == nil || strings.Contains(err.Error(), sample) {
			t.Errorf("%q: %v", text, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%q was changed to %q, %v", text, now, err)
		}
	}
}

func TestAKeyringThatHangsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		r := &ring{hang: time.Hour}
		k := New(Options{File: path, Ring: r})
		begun := time.Now()
		if at, err := k.Set(t.Context(), "anthropic", sample); at != InFile || err != nil || time.Since(begun) != patience {
			t.Errorf("kept in %q after %s, %v", at, time.Since(begun), err)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestAKeyThatComesLateIsThereTheNextTime(t *testing.T) {
	t.Parallel()
	path := file(t)
	r := &ring{}
	if _, err := New(Options{File: path, Ring: r}).Set(t.Context(), "anthropic", sample); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r.hang = time.Minute
		k := New(Options{File: path, Ring: r})
		if _, err := k.Key(t.Context(), "anthropic"); !errors.Is(err, ErrSilent) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := k.Key(ctx, "anthropic"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.Sleep(2 * time.Minute)
		begun := time.Now()
		if key, err := k.Key(t.Context(), "anthropic"); key != sample || err != nil || time.Since(begun) != 0 {
			t.Errorf("got %q after %s, %v", key, time.Since(begun), err)
		}
	})
}

func TestWhatTheKeyringSaysIsNotRepeated(t *testing.T) {
	t.Parallel()
	path := file(t)
	r := &ring{}
	if _, err := New(Options{File: path, Ring: r}).Set(t.Context(), "anthropic", sample); err != nil {
		t.Fatal(err)
	}
	r.err = errors.New("could not hand out " + sample)
	k := New(Options{File: path, Ring: r})
	_, read := k.Key(t.Context(), "anthropic")
	_, gone := k.Remove(t.Context(), "anthropic")
	for _, err := range []error{read, gone} {
		if err == nil || strings.Contains(err.Error(), sample) || !strings.Contains(err.Error(), "unlocked") {
			t.Errorf("got %v", err)
		}
	}
	r.err, r.kept = nil, nil
	if _, err := k.Key(t.Context(), "anthropic"); err == nil || !strings.Contains(err.Error(), "cairn models keys set anthropic") {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestWhoKeepsSecretsOutIsToldEachKeyOnce(t *testing.T) {
	t.Parallel()
	path := file(t)
	if _, err := New(Options{File: path}).Set(t.Context(), "openai", "sk-first-0123456789"); err != nil {
		t.Fatal(err)
	}
	k, told := New(Options{File: path}), map[string]string{}
	k.Tell(func(provider, key string) { told[provider] += key })
	if _, err := k.Set(t.Context(), "anthropic", sample); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told["openai"] != "sk-first-0123456789" || told["anthropic"] != sample {
		t.Errorf("told %v", told)
	}
}

func TestNoPlaceIsASentence(t *testing.T) {
	t.Parallel()
	var none *Keys
	for _, k := range []*Keys{none, New(Options{})} {
		if _, err := k.Set(t.Context(), "anthropic", sample); err == nil || strings.Contains(err.Error(), sample) {
			t.Errorf("got %v", err)
		}
		if _, err := k.Key(t.Context(), "anthropic"); !errors.Is(err, ErrNoKey) {
			t.Errorf("got %v", err)
		}
		k.Tell(func(string, string) { t.Error("told of a key") })
		if k.Where("anthropic") != "" || k.Fault() != "" {
			t.Errorf("%q, %q", k.Where("anthropic"), k.Fault())
		}
	}
}

func TestWhatCannotBeAKeyIsRefused(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "two words", "sk-1\nsk-2", "ключ-0123456789abc", strings.Repeat("k", maxKey+1), "sk-\x1b[31m0123456789"} {
		if err := Check(key); err == nil || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := Check(sample); err != nil {
		t.Error(err)
	}
}

func TestAKeyOfAnotherProviderIsDoubted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, key, want string }{
		{"anthropic", sample, ""},
		{"anthropic", "sk-0123456789abcdef", "looks like a key of openai"},
		{"openai", sample, "looks like a key of anthropic"},
		{"openai", "sk-proj-0123456789abcdef", ""},
		{"anthropic", "0123456789abcdef01234", "begin with sk-ant-"},
		{"gemini", "AIza0123456789abcdef", ""},
		{"deepseek", "sk-0123456789abcdef", ""},
		{"deepseek", sample, "looks like a key of anthropic"},
		{"deepseek", "k-1", "shorter than any key"},
		{"openrouter", "sk-or-v1-0123456789abcdef", ""},
	} {
		if got := Doubt(c.provider, c.key); (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Contains(got, c.key) {
			t.Errorf("%s, %s: %q", c.provider, c.key, got)
		}
	}
}

func TestTheSystemsKeyringIsSpokenTo(t *testing.T) { //nolint:paralleltest // the library has one keyring for all
	zalando.MockInit()
	path := file(t)
	k := New(Options{File: path, Ring: system{}})
	if at, err := k.Set(t.Context(), "anthropic", sample); at != InRing || err != nil {
		t.Fatalf("kept in %q, %v", at, err)
	}
	if key, err := New(Options{File: path, Ring: system{}}).Key(t.Context(), "anthropic"); key != sample || err != nil {
		t.Errorf("got %q, %v", key, err)
	}
	if stored, err := zalando.Get("cairn", "anthropic"); stored != sample || err != nil {
		t.Errorf("the keyring has %q, %v", stored, err)
	}
	if at, err := k.Remove(t.Context(), "anthropic"); at != InRing || err != nil {
		t.Errorf("removed from %q, %v", at, err)
	}
	if _, err := zalando.Get("cairn", "anthropic"); !errors.Is(err, zalando.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	zalando.MockInitWithError(errors.New("locked"))
	if at, err := k.Set(t.Context(), "anthropic", sample); at != InFile || err != nil {
		t.Errorf("with a keyring that is locked kept in %q, %v", at, err)
	}
}

func TestWithoutASessionBusThereIsNoKeyring(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the keyring there needs no bus")
	}
	dir := t.TempDir()
	env := map[string]string{"XDG_RUNTIME_DIR": dir}
	get := func(name string) string { return env[name] }
	if System(get) != nil {
		t.Error("there is one without a bus")
	}
	if err := os.WriteFile(filepath.Join(dir, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if System(get) == nil {
		t.Error("there is none with a bus")
	}
}

// A window that has been open for long goes on with the key of now, and keeps it
// out of what others read.
func TestAKeyThatAnotherWindowReplacesCounts(t *testing.T) {
	t.Parallel()
	const next = "sk-ant-fedcba9876543210"
	for name, r := range map[string]Ring{"in the file": nil, "in the keyring": &ring{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, told := file(t), []string(nil)
			here, there := New(Options{File: path, Ring: r}), New(Options{File: path, Ring: r})
			here.Tell(func(provider, key string) { told = append(told, provider+" "+key) })
			for _, key := range []string{sample, next} {
				if _, err := there.Set(t.Context(), "anthropic", key); err != nil {
					t.Fatal(err)
				}
				later := time.Now().Add(time.Duration(len(told)+1) * time.Hour) // however coarse the times of files are
				if err := os.Chtimes(path, later, later); err != nil {
					t.Fatal(err)
				}
				if got, err := here.Key(t.Context(), "anthropic"); got != key || err != nil {
					t.Errorf("got %q, %v, want %q", got, err, key)
				}
			}
			if want := []string{"anthropic " + sample, "anthropic " + next}; !slices.Equal(told, want) {
				t.Errorf("told %q, want %q", told, want)
			}
		})
	}
}

// Windows that keep keys at the same time lose none of them.
func TestKeysThatAreKeptAtOnceAreAllThere(t *testing.T) {
	t.Parallel()
	path := file(t)
	var all sync.WaitGroup
	providers := []string{"anthropic", "openai", "gemini", "openrouter", "groq", "xai", "mistral", "deepseek"}
	for _, p := range providers {
		all.Go(func() {
			if _, err := New(Options{File: path}).Set(t.Context(), p, sample); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if kept := New(Options{File: path}).Providers(); len(kept) != len(providers) {
		t.Errorf("kept are %v", kept)
	}
}
