package parts

import (
	"context"

	"cairn/harness/model"
	"cairn/harness/model/catalogue"
	"cairn/harness/model/choose"
	"cairn/ui/cli"
	"cairn/ui/cli/keyring"
	"cairn/ui/overlay"
)

// Models is what the screen lists models from, and keeps the keys for them with.
func (p *Start) Models(setup cli.Setup) overlay.ModelSource {
	return overlay.ModelSource{
		List: func(context.Context) ([]overlay.ModelLine, error) {
			env := p.Environment(setup)
			var lines []overlay.ModelLine
			for _, provider := range env.Catalogue.Providers() {
				models := provider.Models
				if len(models) == 0 && provider.Default != "" { // the built-in one
					models = []model.Info{env.Catalogue.Info(provider.ID + "/" + provider.Default)}
				}
				lines = append(lines, modelLines(env, provider, models)...)
			}
			return lines, nil
		},
		Found: func(ctx context.Context) ([]overlay.ModelLine, error) {
			env := p.Environment(setup)
			var lines []overlay.ModelLine
			for _, s := range env.Local(ctx) {
				provider, _ := env.Catalogue.Provider(s.Provider)
				var models []model.Info
				for _, name := range s.Models {
					models = append(models, env.Catalogue.Info(s.Provider+"/"+name))
				}
				lines = append(lines, modelLines(env, provider, models)...)
			}
			return lines, nil
		},
		SaveKey: func(ctx context.Context, provider, key string) (string, error) {
			at, err := setup.Keys.Set(ctx, provider, key)
			if at == keyring.InFile {
				return setup.Keys.File(), err
			}
			return string(at), err
		},
		Doubt: keyring.Doubt,
	}
}

// modelLines are models of a provider as they are listed.
func modelLines(env choose.Env, p catalogue.Provider, models []model.Info) []overlay.ModelLine {
	from, needs := env.KeyFrom(p.ID), env.NeedsKey(p.ID)
	lines := make([]overlay.ModelLine, len(models))
	for i, m := range models {
		lines[i] = overlay.ModelLine{
			Name: m.ID, Title: m.Name, Window: m.Window, InputPrice: m.InputPrice, OutputPrice: m.OutputPrice, PriceKnown: m.PriceKnown,
			Images: m.Images, Documents: m.Documents, Reasoning: m.Reasoning, Local: m.Local || p.Local, Key: from, NeedsKey: needs,
		}
	}
	return lines
}
