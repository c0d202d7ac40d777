package files

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Nobody is asked about a change that is going to fail: a file that its owner
// protects is told at once, and can be changed again once it is not protected.
func TestAReadOnlyFileIsToldBeforeAnybodyIsAsked(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	set := kit(t, Options{})
	file := put(t, ws, "f", "one\n")
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]any{
		"write_file": writeIn{Path: "f", Content: "x", Overwrite: true},
		"edit_file":  editIn{Path: "f", Old: "one", New: "two"},
	} {
		if p, err := proposal(t, set, ws, name, in); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s proposes %+v, %v", name, p, err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := proposal(t, set, ws, "edit_file", editIn{Path: "f", Old: "one", New: "two"}); err != nil {
		t.Errorf("a file that may be written gives %v", err)
	}
}
