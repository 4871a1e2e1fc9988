import { BlockList, isIP } from 'node:net'

/**
 * Networks that are not the public internet, from the IANA special-purpose registries (RFC 6890 and
 * the lists that follow it): loopback, private, carrier-grade NAT, link-local (cloud metadata lives
 * there), documentation, multicast, and the IPv6 ranges that carry an IPv4 address inside.
 */
const NETWORKS = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32'],
  ...['2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

// Two lists: in one, `::ffff:0:0/96` would also match every plain IPv4 address.
const blocked = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const network of NETWORKS) {
  const [address = '', bits] = network.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  blocked[family].addSubnet(address, Number(bits), family)
}

/** True for an IP address that a server must not be talked into reaching; also for what is no address. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.split('%')[0] ?? ''
  const version = isIP(plain)
  const family = version === 6 ? 'ipv6' : 'ipv4'
  return version === 0 || blocked[family].check(plain, family)
}
