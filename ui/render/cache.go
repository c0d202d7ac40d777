package render

// cache keeps rendered lines, bounded by their bytes. It has two generations:
// when the young one is full, the old one is dropped, so what is used stays.
type cache[K comparable] struct {
	limit      int
	young, old map[K][]string
	bytes      int
}

func (c *cache[K]) get(k K) ([]string, bool) {
	if v, ok := c.young[k]; ok {
		return v, true
	}
	v, ok := c.old[k]
	if ok {
		c.put(k, v, 0)
	}
	return v, ok
}

// put keeps lines; extra is the size of the key.
func (c *cache[K]) put(k K, lines []string, extra int) {
	size := extra + 16
	for _, l := range lines {
		size += len(l) + 16
	}
	if c.young == nil {
		c.young = map[K][]string{}
	}
	if c.bytes += size; c.bytes > c.limit/2 {
		c.old, c.young, c.bytes = c.young, map[K][]string{}, size
	}
	c.young[k] = lines
}

func (c *cache[K]) clear() { c.young, c.old, c.bytes = nil, nil, 0 }
