// Package publicnet tells which network addresses are public. The one thing to know:
// whoever asks an address that somebody else named looks here first, at the moment the
// connection is made, since a name may lead elsewhere the next time.
package publicnet

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrPrivate means that an address is not one of the public network.
var ErrPrivate = errors.New("is not an address of the public network")

// closed are the IPv4 networks that are not public: this host, private and
// shared networks, link-local (with the metadata services of clouds), protocol
// assignments, documentation, benchmarks, multicast and reserved.
var closed = prefixes( //nolint:gochecknoglobals // a table that nobody changes
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// closed6 are the parts of IPv6 global unicast that are not public, or that
// lead into IPv4 by ways nobody needs any more: protocol assignments with
// Teredo, documentation, 6to4.
var closed6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20") //nolint:gochecknoglobals // a table that nobody changes

var (
	// global is all of IPv6 that is assigned to the public network.
	global = netip.MustParsePrefix("2000::/3") //nolint:gochecknoglobals // a constant
	// translated is how networks without IPv4 reach it: the last four bytes
	// are an IPv4 address.
	translated = netip.MustParsePrefix("64:ff9b::/96") //nolint:gochecknoglobals // a constant
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(list))
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// Check returns an error that wraps [ErrPrivate] unless an address is one of the
// public network.
func Check(addr netip.Addr) error {
	plain := addr.Unmap()
	if plain.Zone() == "" && open(plain) {
		return nil
	}
	return fmt.Errorf("%s %w", addr, ErrPrivate)
}

func open(addr netip.Addr) bool {
	switch {
	case !addr.IsValid():
		return false
	case addr.Is4():
		return !within(addr, closed)
	case translated.Contains(addr):
		bytes := addr.As16()
		return !within(netip.AddrFrom4([4]byte(bytes[12:])), closed)
	default:
		return global.Contains(addr) && !within(addr, closed6)
	}
}

func within(addr netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
