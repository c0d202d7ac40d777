package cli

import "fmt"

// StoreMigration says what bringing a store to the present schema came to.
type StoreMigration struct {
	// From and To are the schemas before and after, the same if there was nothing
	// to do.
	From int `json:"from"`
	To   int `json:"to"`
	// Counts is what the store holds; it says so in words, too.
	Counts fmt.Stringer `json:"counts"`
	// Kept is where the old file is, empty if there was nothing to do.
	Kept string `json:"kept,omitempty"`
}

// StoreRebuilt says what making the lists of a store anew from its records came
// to.
type StoreRebuilt struct {
	// Lists are those that were changed.
	Lists []StoreList `json:"lists"`
	// Missing is what the old lists named and what is not there.
	Missing []string     `json:"missing"`
	Counts  fmt.Stringer `json:"counts"`
	// Kept is where the old file is, empty if nothing was changed.
	Kept string `json:"kept,omitempty"`
}

// StoreList is one list that was made anew.
type StoreList struct {
	Name string `json:"name"`
	// Readable is false if the old one could not be read; the numbers then say
	// nothing about it.
	Readable bool `json:"readable"`
	// Entries is how many there are now, the others how that differs.
	Entries int `json:"entries"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// String says what was changed.
func (l StoreList) String() string {
	if !l.Readable {
		return fmt.Sprintf("%s was not readable and has %d entries now", l.Name, l.Entries)
	}
	return fmt.Sprintf("%s: %d added, %d removed, %d changed", l.Name, l.Added, l.Removed, l.Changed)
}
