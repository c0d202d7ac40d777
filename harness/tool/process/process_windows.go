package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// systemVariables are those that programs need on this system.
var systemVariables = []string{ //nolint:gochecknoglobals // a table that nobody changes
	"SYSTEMROOT", "SystemRoot", "SYSTEMDRIVE", "SystemDrive", "COMSPEC", "ComSpec", "PATHEXT", "WINDIR", "windir", "Path",
	"TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "ProgramData",
}

// killing bounds the program that ends a command.
const killing = 2 * time.Second

// isolate gives a command a group of its own and no window.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// ended waits until the shell is over, and reap has nothing left to do.
func ended(cmd *exec.Cmd) error { return cmd.Wait() }

func reap(*exec.Cmd) error { return nil }

// terminate does nothing: a program without a window cannot be asked to end.
func terminate(int) {}

// kill ends a command and what it started. What a shell that is over left
// behind is not found on this system.
func kill(pid int) {
	ctx, cancel := context.WithTimeout(context.Background(), killing)
	defer cancel()
	program := "taskkill"
	if dir, err := windows.GetSystemDirectory(); err == nil {
		program = filepath.Join(dir, "taskkill.exe")
	}
	if exec.CommandContext(ctx, program, "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // it is over, or nothing can end it
	}
}

// alive reports whether the shell runs.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid)) //nolint:gosec // numbers of processes are small
	if err != nil {
		return false
	}
	state, err := windows.WaitForSingleObject(h, 0)
	_ = windows.CloseHandle(h) // it was only looked at
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// Ending says how a program ended by itself.
func Ending(state *os.ProcessState) string {
	return fmt.Sprintf("exit code %d", state.ExitCode())
}
