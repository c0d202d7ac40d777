package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
)

// A session is saved in one place and gone on with in another. With an address
// such as s3://bucket/folder?region=eu-west-1 the two may be machines.
func Example() {
	ctx := context.Background()
	store, err := bucket.Open(ctx, "mem://")
	if err != nil {
		log.Fatal(err)
	}
	said := harness.UserText("Where were we?")
	id, err := snapshot.Save(ctx, store, snapshot.Document{
		ID: "refactor-parser", Title: "Refactor the parser", Head: 1,
		Records: []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &said}},
	})
	if err != nil {
		log.Fatal(err)
	}
	d, err := snapshot.Load(ctx, store, string(id), snapshot.Want{})
	if err = errors.Join(err, store.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Title+":", d.Records[0].Message.Text())
	// Output: Refactor the parser: Where were we?
}
