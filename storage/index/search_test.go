package index_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/storage/index"
)

// chats are some messages of three sessions.
func chats() []index.Doc {
	var docs []index.Doc
	add := func(session string, texts ...string) {
		for i, text := range texts {
			docs = append(docs, index.Doc{Session: session, Message: i + 1, Speaker: []string{"Ana", "Bo"}[i%2], Text: text})
		}
	}
	add("hikes", "We climbed the mountains near Łódź", "That sounds lovely!", "The climb took hours", "And the weather?", "It rained", "Oh no")
	add("cooking", "My grandmother makes crème brûlée", "With vanilla?", "The exact words matter", "words exact are these", "Hiking boots do not fit in an oven")
	add("日記", "今日はしりとりをした", "設備清單を見た")
	return docs
}

func find(t *testing.T, query string, segments []*index.Segment, tail []index.Doc, o index.Options) []string {
	t.Helper()
	o.Text = func(session string, message int) (string, error) {
		for _, d := range chats() {
			if d.Session == session && d.Message == message {
				return d.Text, nil
			}
		}
		return "", fmt.Errorf("message %d of %q was never said", message, session)
	}
	found, err := index.Search(index.NewQuery(query), segments, tail, 0, o)
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	var names []string
	for _, m := range found {
		if m.Score <= 0 {
			t.Errorf("%q finds %+v", query, m)
		}
		names = append(names, fmt.Sprintf("%s/%d", m.Session, m.Message))
	}
	return names
}

func open(t *testing.T, docs []index.Doc) *index.Segment {
	t.Helper()
	s, err := index.OpenSegment(index.Build(docs))
	if err != nil {
		t.Fatal(err)
	}
	if s.Docs() != len(docs) {
		t.Fatalf("segment of %d messages has %d", len(docs), s.Docs())
	}
	return s
}

func TestSearchFindsWords(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"":                    nil,
		"absent":              nil,
		"creme brulee":        {"cooking/1"},
		"hikes":               {"cooking/5"},
		"CLIMBING":            {"hikes/1", "hikes/3"},
		"grandm":              {"cooking/1"},
		"mountai rain":        {"hikes/5", "hikes/1"},
		"who goes":            nil,
		"he says":             nil,
		"cl":                  {"hikes/1", "hikes/3"},
		"cl inventory":        nil,
		"climber sun":         nil,
		"grandmothers":        {"cooking/1"},
		"mountaineering":      {"hikes/1"},
		"making it rain":      {"cooking/1", "hikes/5"},
		"設備":                  {"日記/2"},
		"しりと":                 {"日記/1"},
		`"exact words"`:       {"cooking/3"},
		`“Words exact”`:       {"cooking/4"},
		`"exact words" absen`: {"cooking/3"},
		`"matter exact"`:      nil,
		`matter"`:             {"cooking/3"},
	} {
		if got := find(t, query, []*index.Segment{open(t, chats())}, nil, index.Options{}); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}

func TestAQuestionFindsWhatStandsNextToItsWords(t *testing.T) {
	t.Parallel()
	got := find(t, "How was the weather?", []*index.Segment{open(t, chats())}, nil, index.Options{})
	if len(got) < 3 || got[0] != "hikes/5" || got[1] != "hikes/4" {
		t.Errorf("found %q", got)
	}
}

func TestAQuestionPrefersWhoKnows(t *testing.T) {
	t.Parallel()
	for name, docs := range map[string][]index.Doc{
		"whoever tells of themselves":   {{Text: "Pottery is calm"}, {Text: "My pottery broke"}},
		"whoever is named":              {{Speaker: "Bo", Text: "Pottery, Ana!"}, {Speaker: "Ana", Text: "Pottery, Bo!"}},
		"whoever does not ask back":     {{Text: "Pottery helps?"}, {Text: "Pottery helps"}},
		"what the question is about":    {{Text: "One kind of"}, {Text: "Old pottery"}},
		"the answer, not what precedes": {{Text: "Old news"}, {Text: "Any pottery?"}, {Text: "Blue vases"}},
	} {
		for i := range docs {
			docs[i].Session, docs[i].Message = "a", 1+i
			if !strings.HasPrefix(name, "the answer") {
				docs[i].Message = 1 + 100*i
			}
		}
		found, err := index.Search(index.NewQuery("What kind of pottery does Ana like?"), nil, docs, 0, index.Options{})
		last := docs[len(docs)-1].Message
		at := func(message int) int {
			return slices.IndexFunc(found, func(m index.Match) bool { return m.Message == message })
		}
		if err != nil || at(last) < 0 || at(1) >= 0 && at(1) < at(last) {
			t.Errorf("%s: found %+v, %v", name, found, err)
		}
	}
}

func TestSearchDoesNotDependOnHowMessagesAreSpread(t *testing.T) {
	t.Parallel()
	docs := chats()
	for _, query := range []string{"climb", "How was the weather?", "words exact", "Ana", "hiking boots rain", `"exact words"`} {
		want := find(t, query, nil, docs, index.Options{})
		if len(want) == 0 {
			t.Fatalf("%q finds nothing", query)
		}
		for cut := 1; cut < len(docs); cut++ {
			var odd, even []index.Doc
			for i, d := range docs[:cut] {
				if i%2 == 0 {
					even = append(even, d)
				} else {
					odd = append(odd, d)
				}
			}
			if got := find(t, query, []*index.Segment{open(t, docs[:cut])}, docs[cut:], index.Options{}); !slices.Equal(got, want) {
				t.Errorf("%q with %d in a segment finds %q, want %q", query, cut, got, want)
			}
			if got := find(t, query, []*index.Segment{open(t, odd), open(t, docs[cut:]), open(t, even)}, nil, index.Options{}); len(got) == 0 {
				t.Errorf("%q finds nothing in interleaved segments", query)
			}
		}
		if got := find(t, query, []*index.Segment{open(t, docs)}, docs[3:5], index.Options{}); len(got) != len(want) {
			t.Errorf("%q with messages in a segment and the tail finds %q, want %q", query, got, want)
		}
	}
}

func TestSegmentsOfAnySizeRankAlike(t *testing.T) {
	t.Parallel()
	docs := many(400, 1)
	query := index.NewQuery(fmt.Sprintf("What did %s say to %s of %s in 2023?", madeUp(3), madeUp(40), madeUp(700)[:4]))
	want, err := index.Search(query, nil, docs, 0, index.Options{})
	if err != nil || len(want) < 100 {
		t.Fatalf("found %d, %v", len(want), err)
	}
	for _, size := range []int{1, 7, 13, 150} {
		var segments []*index.Segment
		for part := range slices.Chunk(docs[:390], size) {
			segments = append(segments, open(t, part))
		}
		got, err := index.Search(query, segments, docs[390:], 0, index.Options{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("in segments of %d messages the order is another, %v", size, err)
		}
	}
}

func TestSearchLeavesOut(t *testing.T) {
	t.Parallel()
	docs := chats()
	day := time.Date(2023, 5, 8, 12, 0, 0, 0, time.UTC)
	for i := range docs {
		docs[i].At = day.AddDate(0, 0, i)
	}
	for name, o := range map[string]index.Options{
		"a session":              {Skip: func(_ int, session string) bool { return session == "hikes" }},
		"a message":              {Hide: func(_ string, message int) bool { return message == 1 }},
		"what is too old":        {Since: day.AddDate(0, 0, 1)},
		"what is too new":        {Until: day},
		"the parts of a segment": {Skip: func(segment int, session string) bool { return segment == 0 && session == "hikes" }},
	} {
		if got := find(t, "mountains", []*index.Segment{open(t, docs)}, nil, o); len(got) != 0 {
			t.Errorf("without %s %q is found", name, got)
		}
	}
	if got := find(t, "mountains", []*index.Segment{open(t, docs)}, nil, index.Options{Since: day, Until: day.Add(time.Second)}); len(got) != 1 {
		t.Errorf("on the day %q is found", got)
	}
}

func TestOfEqualMessagesTheLaterIsBetter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	docs := []index.Doc{
		{Session: "a", Message: 1, Text: "tea", At: now},
		{Session: "b", Message: 1, Text: "tea", At: now.Add(time.Hour)},
		{Session: "c", Message: 1, Text: "tea", At: now.Add(time.Minute)},
	}
	found, err := index.Search(index.NewQuery("tea"), nil, docs, 2, index.Options{})
	if err != nil || len(found) != 2 || found[0].Session != "b" || found[1].Session != "c" {
		t.Fatalf("found %+v, %v", found, err)
	}
}

func TestAQueryMayNameATime(t *testing.T) {
	t.Parallel()
	docs := chats()
	now := time.Date(2023, 5, 8, 12, 0, 0, 0, time.UTC)
	for i := range docs {
		docs[i].At = now.AddDate(0, 0, -i)
	}
	segments := []*index.Segment{open(t, docs)}
	if got := find(t, "exact words", segments, nil, index.Options{Now: now}); got[0] != "cooking/3" {
		t.Errorf("without a time %q", got)
	}
	if got := find(t, "exact words 9 days ago", segments, nil, index.Options{Now: now}); got[0] != "cooking/4" || len(got) != 2 {
		t.Errorf("with a time %q", got)
	}
	if got := find(t, "What did we do yesterday?", segments, nil, index.Options{Now: now}); !slices.Equal(got, []string{"hikes/2"}) {
		t.Errorf("yesterday was %q", got)
	}
}

func TestEqualDocsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	docs := chats()
	want := index.Build(docs)
	slices.Reverse(docs)
	if got := index.Build(docs); !slices.Equal(got, want) {
		t.Error("the order of the messages shows")
	}
	if got := index.Build(append(slices.Clone(chats()[:1]), docs...)); !slices.Equal(got, want) {
		t.Error("a message that is given twice shows")
	}
}

func TestADocumentWithoutANumberIsLeftOut(t *testing.T) {
	t.Parallel()
	found, err := index.Search(index.NewQuery("tea"), nil, []index.Doc{{Session: "a", Text: "tea"}, {Session: "a", Message: 2, Text: "tea"}}, 0, index.Options{})
	if err != nil || len(found) != 1 || found[0].Message != 2 {
		t.Fatalf("found %+v, %v", found, err)
	}
}

func TestForeignBytesAreRefused(t *testing.T) {
	t.Parallel()
	good := index.Build(chats())
	bad := [][]byte{nil, {}, {0}, {index.Format}, {index.Format + 1}, append(slices.Clone(good), 0), append([]byte{index.Format + 1}, good[1:]...)}
	for n := range good {
		bad = append(bad, good[:n])
	}
	for _, b := range bad {
		if _, err := index.OpenSegment(b); !errors.Is(err, index.ErrSegment) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
	}
}

func FuzzSegment(f *testing.F) {
	good := index.Build(chats())
	f.Add(good, "climb the moun")
	f.Add(index.Build(nil), "a")
	for i := range good {
		b := slices.Clone(good)
		b[i] ^= 0x81
		f.Add(b, "hiking boots, words exact?")
	}
	f.Fuzz(func(t *testing.T, b []byte, query string) {
		s, err := index.OpenSegment(b)
		if err != nil {
			if !errors.Is(err, index.ErrSegment) {
				t.Fatal(err)
			}
			return
		}
		text := func(string, int) (string, error) { return query, nil }
		found, err := index.Search(index.NewQuery(query), []*index.Segment{s, s}, chats(), 10, index.Options{Text: text})
		if err != nil && !errors.Is(err, index.ErrSegment) {
			t.Fatal(err)
		}
		for _, m := range found {
			if m.Message < 1 || !(m.Score > 0) {
				t.Fatalf("found %+v", m)
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	docs := many(1000, 0)
	size := 0
	for b.Loop() {
		size = len(index.Build(docs))
	}
	b.ReportMetric(float64(size)/float64(len(docs)), "B/message")
}

func BenchmarkSearch(b *testing.B) {
	var segments []*index.Segment
	for i := range 100 {
		s, err := index.OpenSegment(index.Build(many(1000, i)))
		if err != nil {
			b.Fatal(err)
		}
		segments = append(segments, s)
	}
	for _, query := range []string{madeUp(17), fmt.Sprintf("What did %s say to %s about %s?", madeUp(3), madeUp(99), madeUp(2000)), madeUp(17)[:2]} {
		b.Run(query, func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				found, err := index.Search(index.NewQuery(query), segments, nil, 25, index.Options{})
				took = append(took, time.Since(start))
				if err != nil || len(found) == 0 {
					b.Fatal(found, err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

// many makes n messages of 30 words, as often rare as in a language, of 20
// sessions.
func many(n, seed int) []index.Doc {
	docs := make([]index.Doc, n)
	state := uint64(seed)*2654435761 + 1
	for i := range docs {
		var text strings.Builder
		for range 30 {
			state = state*6364136223846793005 + 1442695040888963407
			text.WriteString(madeUp(int(math.Pow(20_000, float64(state>>11)/(1<<53)))) + " ")
		}
		docs[i] = index.Doc{
			Session: fmt.Sprintf("s%d-%d", seed, i*20/n), Message: i%(n/20) + 1, Speaker: "",
			At: time.Unix(1.7e9+int64(seed*n+i)*60, 0), Text: text.String(),
		}
	}
	return docs
}

// madeUp returns a word of two to eight letters for a number.
func madeUp(n int) string {
	var word []byte
	for x := uint32(n) * 2654435761; len(word) < 2 || x > 0 && len(word) < 8; x /= 20 {
		word = append(word, "aeioubcdfghklmnprstw"[x%20])
	}
	return string(word)
}
