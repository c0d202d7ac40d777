package ui_test

import (
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/overlay"
	"cairn/ui/uitest"
)

func TestPermissionsAreListedAndRevokedOverTheChat(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps := w.Deps("talk", false)
		deps.Grants = w.Store.Grants()
		deps.Rules = []overlay.Rule{{Effect: "deny", Text: "run_command(rm)", From: "--deny"}}
		deps.CheckRule = func(text string) error {
			if text == "nonsense" {
				return errors.New("not a rule: no tool has this name")
			}
			return nil
		}
		if _, err := deps.Grants.Save(t.Context(), harness.Grant{Session: "talk", Rule: "run_command(go test)", By: "ada"}); err != nil {
			t.Fatal(err)
		}
		d := w.Start(deps, 80, 24)
		d.Type("a draft").Press("ctrl+u").Type("/permissions").Press("enter").Wait(time.Second)
		d.Shows("Permissions", "run_command(rm)", "--deny", "run_command(go test)", "ada")
		d.Press("end").Type("d").Wait(time.Second).Shows("Revoked. u gives it again")
		if left, err := deps.Grants.List(t.Context(), "talk"); err != nil || len(left) != 0 {
			t.Fatalf("left %+v, %v", left, err)
		}
		d.Type("u").Wait(time.Second).Shows("In force: run_command(go test)")
		d.Type("a").Type("nonsense").Press("enter").Shows("Not a rule: no tool has this name.").Press("ctrl+u").Type("grep").Press("enter").Wait(time.Second).Shows("always")
		if left, err := deps.Grants.List(t.Context(), "talk"); err != nil || len(left) != 2 {
			t.Errorf("left %+v, %v", left, err)
		}
		d.Press("f1").Shows("Help · permissions").Press("esc").Shows("Permissions").Press("esc").Hides("Permissions").Shows("hello yourself")
	})
}

func TestPermissionsAreSaidToBeMissingWithoutAStore(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("/permissions").Press("enter").Shows("No rules are set, and grants are not kept here.").Press("esc").Hides("Permissions")
	})
}
