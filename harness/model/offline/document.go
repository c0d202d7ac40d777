package offline

import (
	"fmt"
	"strings"
)

// sentences are the prose of the long document.
var sentences = []string{ //nolint:gochecknoglobals // a table that nobody changes
	"A cairn is a pile of stones that somebody left so that the next one finds the way.",
	"It says nothing about where the path leads, only that it was worth walking once.",
	"In fog the distance between two of them is exactly as far as anybody dares to go.",
	"Old ones lean; travellers add a stone and go on, and so the pile outlives its makers.",
	"A good mark is plain from far away and cannot be taken for something that fell by itself.",
	"What is written down at the end of a day is worth more than what is meant to be remembered.",
	"The map is redrawn every winter, but the stones stay where the ground carried them before.",
	"Whoever comes back after years reads the slope by its marks, not by what memory claims.",
	"Two marks in sight of each other make a line, and a line is already half a path.",
	"Nothing is lost that can be found again by walking slowly in the direction it was left.",
}

// sections are the shapes that the document goes through again and again.
var sections = []func(n int) string{ //nolint:gochecknoglobals // a table that nobody changes
	func(n int) string {
		return prose(n, 4) + "\n\n" + prose(n+4, 3) + " Here *emphasis*, **weight**, ~~second thoughts~~, `inline code` and [a link](https://example.org/cairn) take turns.\n"
	},
	func(n int) string {
		return "What to carry:\n\n- water, " + fmt.Sprint(n+1) + " litres\n- a map\n  - folded twice\n  - in a dry bag\n- a whistle\n\nAnd in this order:\n\n1. look back\n2. look ahead\n3. place the stone\n\n" + prose(n, 3) + "\n"
	},
	func(n int) string {
		return "| Mark | Height | Seen from | Note |\n| :--- | ---: | ---: | --- |\n" +
			fmt.Sprintf("| first | %d cm | %d m | leans a little |\n| second | %d cm | %d m | rebuilt |\n| 三つ目 | %d cm | %d m | 霧の中 |\n\n", 40+n, 300+10*n, 55+n, 420+10*n, 62+n, 180+10*n) + prose(n, 2) + "\n"
	},
	func(n int) string {
		return "```go\n// Next returns the mark that follows the given one.\nfunc (p Path) Next(i int) (Mark, bool) {\n\tif i+1 >= len(p.Marks) {\n\t\treturn Mark{}, false // the end, or fog\n\t}\n\treturn p.Marks[i+1], true\n}\n```\n\n" + prose(n, 3) + "\n"
	},
	func(n int) string {
		return "> " + sentence(n) + "\n>\n> " + sentence(n+5) + "\n\n石を積んで道を残す。霧の中でも、次の人はそれを見つける。돌무더기는 길을 기억한다。路标不会说话，但它记得。 🪨🗻🧭 The family 👩‍👩‍👧‍👦 follows, and the flag 🇳🇵 is up.\n\n" + prose(n, 2) + "\n"
	},
	func(n int) string {
		return "- [x] the first mark stands\n- [ ] the second one leans\n- [ ] nobody has looked for the third\n\n```sh\nls marks | sort -n | tail -3\n```\n\n" + prose(n, 3) + "\n\n---\n"
	},
}

// titles head the sections.
var titles = []string{"Leaving a mark", "What to carry", "Marks in numbers", "The next one", "Other voices", "Still to do"} //nolint:gochecknoglobals // a table that nobody changes

// Document returns a Markdown document of about n words, the same one for the
// same n: headings, prose, lists, tables, code, quotations, CJK and emoji.
func Document(n int) string {
	var b strings.Builder
	b.WriteString("# Stones along the way\n\nA long document without meaning, to try the screen with.\n\n")
	count := 14
	for i := 0; count < n; i++ {
		part := fmt.Sprintf("## %d. %s\n\n%s\n", i+1, titles[i%len(titles)], sections[i%len(sections)](i))
		count += len(strings.Fields(part))
		b.WriteString(part)
	}
	b.WriteString("The end.")
	return b.String()
}

func sentence(n int) string { return sentences[n%len(sentences)] }

// prose joins count sentences from the n-th on.
func prose(n, count int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = sentence(n + i)
	}
	return strings.Join(list, " ")
}
