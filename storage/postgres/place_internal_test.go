package postgres

import (
	"maps"
	"slices"
	"testing"
)

// A pool such as PgBouncer refuses connections that begin with other settings.
func TestConnectionsBeginWithNothingThatPoolsRefuse(t *testing.T) {
	t.Parallel()
	_, config, err := parse("postgres://ada@db/runs?schema=x")
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Collect(maps.Keys(config.ConnConfig.RuntimeParams))
	if !slices.Equal(got, []string{"application_name"}) {
		t.Errorf("they begin with %v", got)
	}
}
