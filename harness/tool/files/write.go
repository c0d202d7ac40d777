package files

import (
	"errors"
	"fmt"

	"cairn/harness/tool"
)

type writeIn struct {
	Path      string `json:"path" jsonschema:"the file, relative to the working directory"`
	Content   string `json:"content" jsonschema:"the whole new text of the file"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"true to replace a file that exists"`
	Why       string `json:"why,omitempty" jsonschema:"one sentence for the person who is asked: what this is for"`
}

// writeFile makes the tool write_file.
func (f family) writeFile() (tool.Tool, error) {
	return changing(f, "write_file",
		"Write a text file of the working directory, and the directories above it. A file that exists is replaced only with overwrite; to change part of one use edit_file.",
		planWrite, func(in writeIn) (path, why string) { return in.Path, in.Why })
}

// planWrite makes the change that write_file asks for.
func planWrite(s space, in writeIn, agreed string) (change, error) {
	if err := checkText("the content", in.Content); err != nil {
		return change{}, err
	}
	ch, err := s.load(in.Path, agreed)
	if err != nil {
		return change{}, err
	}
	ch.new = in.Content
	switch {
	case ch.info == nil:
	case !in.Overwrite:
		err = fmt.Errorf("%q exists already; set overwrite to replace it as a whole, or use edit_file", in.Path)
	case ch.old == ch.new:
		err = fmt.Errorf("%q has exactly this content already; nothing was written", in.Path)
	}
	if err != nil {
		return change{}, errors.Join(err, ch.close())
	}
	return ch, nil
}
