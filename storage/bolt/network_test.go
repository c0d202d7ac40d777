package bolt

import (
	"log/slog"
	"strings"
	"testing"
)

func TestNetworkFileSystemsAreWarnedAboutOnce(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"nfs": true, "CIFS": true, "9p": true, "fuse": true, "smbfs": true, "apfs": false, "": false} {
		if remote(kind) != want {
			t.Errorf("%q is remote: %v", kind, !want)
		}
	}
	var told []string
	d := &DB{dir: t.TempDir(), log: slog.New(slog.DiscardHandler), notify: func(n Notice) { told = append(told, string(n.Kind)+" "+n.Text) }}
	d.warnOfNetwork()
	if remote(fileSystem(d.dir)) != (len(told) == 1) {
		t.Fatalf("on %q: told %q", fileSystem(d.dir), told)
	}
	told, d.told = nil, nil
	d.warnOf("nfs")
	d.warnOf("nfs")
	d.warnOf("")
	if len(told) != 1 || !strings.HasPrefix(told[0], "network "+d.dir+" is on a network file system (nfs)") {
		t.Fatalf("told %q", told)
	}
}
