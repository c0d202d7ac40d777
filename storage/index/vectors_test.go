package index

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantisedVectorsAreAsAlikeAsTheirOriginals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{1, 7, 8, 384, 1536} {
		for range 50 {
			a, b := make([]float32, dims), make([]float32, dims)
			var ab, aa, bb float64
			for i := range a {
				a[i] = float32(r.NormFloat64())
				b[i] = a[i]/2 + float32(r.NormFloat64())
				ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
			}
			want := ab / math.Sqrt(aa*bb)
			x, y := Quantise(a), Quantise(b)
			if got := float64(Dot(x, y)) / (Length(x) * Length(y)); math.Abs(got-want) > 0.01 {
				t.Fatalf("%d numbers: %.4f, want %.4f", dims, got, want)
			}
		}
	}
	if got := Quantise(make([]float32, 4)); Dot(got, got) != 0 {
		t.Error("nothing became something")
	}
	if big := Quantise([]float32{-1, 1}); big[0] != -127 || big[1] != 127 {
		t.Errorf("got %d", big)
	}
}

func BenchmarkDot512(b *testing.B) {
	x := make([]int8, 512)
	for i := range x {
		x[i] = int8(i)
	}
	for b.Loop() {
		Dot(x, x)
	}
}
