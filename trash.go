package main

import (
	"context"
	"errors"

	"cairn/storage/bolt"
	"cairn/ui/cli"
)

// emptyTrash removes for good what was deleted from the database of a directory.
func emptyTrash(ctx context.Context, dir string, o cli.StoreOptions, agree func(cli.StoreTrash) error) (cli.StoreTrash, error) {
	db, err := openDB(dir, o) //nolint:contextcheck // opening is bounded by itself
	if err != nil {
		return cli.StoreTrash{}, err
	}
	was, err := db.Trash(ctx)
	if err == nil {
		err = agree(cli.StoreTrash{Sessions: was.Sessions, Facts: was.Facts, Notes: was.Notes})
	}
	var gone bolt.Purged
	if err == nil {
		gone, err = db.EmptyTrash(ctx)
	}
	return cli.StoreTrash{
		Sessions: gone.Sessions, Facts: gone.Facts, Notes: gone.Notes, Left: max(was.Sessions-gone.Sessions, 0),
	}, errors.Join(err, db.Close())
}
