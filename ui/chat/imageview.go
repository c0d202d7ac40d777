package chat

import (
	"context"
	"strconv"

	"cairn/harness"
	"cairn/ui/chat/attach"
	"cairn/ui/overlay"
)

// The actions of the keys that show an image alone.
const (
	actImage    = "chat.image"
	actSelImage = "select.image"
	// actImages has images shown in the conversation, or not.
	actImages = "chat.images"
)

// Why they may do nothing.
const (
	offNoImage    = "no image is in this message"
	offNoImages   = "no image is in this chat, as far as it is loaded; /attach FILE sends one"
	offImageWhich = "/image 2 shows the image before the last one; without a number it is the last one"
)

// viewImage shows the n-th last image of the conversation.
func (m Model) viewImage(arg string) (Model, Intent) {
	n, err := strconv.Atoi(arg)
	if arg == "" {
		n, err = 1, nil
	}
	items, _ := m.images(len(m.pages.items))
	switch {
	case err != nil || n < 1:
		m.notice = offImageWhich
	case len(items) == 0:
		m.notice = offNoImages
	case n > len(items):
		m.notice = "there are only " + harness.Count(len(items), "image") + " here, as far as it is loaded"
	default:
		return m, Intent{Kind: WantImage, Images: items, At: len(items) - n}
	}
	return m, Intent{}
}

// viewChosen shows the first image of the message chosen.
func (m Model) viewChosen() (Model, Intent) {
	items, at := m.images(m.sel.at)
	if why := m.unpictured(); why != "" {
		m.notice = why
		return m, Intent{}
	}
	return m, Intent{Kind: WantImage, Images: items, At: at}
}

// unpictured is why no image of the message chosen can be shown, empty if one can.
func (m Model) unpictured() string {
	if !m.sel.on {
		return ""
	}
	if m.sel.at >= len(m.pages.items) || len(m.imagesOf(m.pages.items[m.sel.at].rec.Message)) == 0 {
		return offNoImage
	}
	return ""
}

// images are all of the conversation that are loaded, and the place of the first one
// of item i among them.
func (m Model) images(i int) (list []overlay.ImageItem, at int) {
	for j, it := range m.pages.items {
		if j == i {
			at = len(list)
		}
		for _, f := range m.imagesOf(it.rec.Message) {
			list = append(list, overlay.ImageItem{Name: f.Name, Words: attach.Words(*f, false), Load: m.loadImage(f)})
		}
	}
	return list, at
}

// loadImage reads the bytes of an image.
func (m Model) loadImage(f *harness.File) func(ctx context.Context) ([]byte, error) {
	d, id := m.deps, m.session.ID
	return func(ctx context.Context) ([]byte, error) {
		switch {
		case len(f.Data) > 0:
			return f.Data, nil
		case d.Artifact == nil || f.Artifact == "":
			return nil, errImageElsewhere
		}
		return d.Artifact(ctx, id, f.Artifact)
	}
}
