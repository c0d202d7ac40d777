package publicnet_test

import (
	"errors"
	"net/netip"
	"testing"

	"cairn/harness/tool/publicnet"
)

func TestOnlyAddressesOfThePublicNetworkAre(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.167.1.1", "192.0.1.1",
		"198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a00::1", "64:ff9b::808:808", "::ffff:8.8.8.8",
	} {
		if err := publicnet.Check(netip.MustParseAddr(text)); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{
		"127.0.0.1", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254", "192.168.1.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
		"::1", "::", "::ffff:10.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "64:ff9b::10.0.0.1", "2002:a00:1::", "2001:db8::1",
	} {
		if err := publicnet.Check(netip.MustParseAddr(text)); !errors.Is(err, publicnet.ErrPrivate) {
			t.Errorf("%s is public: %v", text, err)
		}
	}
	if err := publicnet.Check(netip.Addr{}); !errors.Is(err, publicnet.ErrPrivate) {
		t.Errorf("no address is public: %v", err)
	}
}
