// Addresses that no outgoing request may reach unless the operator opens them. Data only; address.ts has the rules.

export interface ForbiddenRange {
  readonly cidr: string;
  readonly why: string;
}

export const FORBIDDEN: readonly ForbiddenRange[] = [
  { cidr: '0.0.0.0/8', why: 'this network' },
  { cidr: '10.0.0.0/8', why: 'RFC1918' },
  { cidr: '100.64.0.0/10', why: 'CGNAT; Alibaba metadata 100.100.100.200' },
  { cidr: '127.0.0.0/8', why: 'loopback' },
  { cidr: '169.254.0.0/16', why: 'link-local, cloud metadata' },
  { cidr: '172.16.0.0/12', why: 'RFC1918' },
  { cidr: '192.0.0.0/24', why: 'IETF assignments; Oracle metadata 192.0.0.192' },
  { cidr: '192.0.2.0/24', why: 'documentation' },
  { cidr: '192.88.99.0/24', why: '6to4 relay anycast' },
  { cidr: '192.168.0.0/16', why: 'RFC1918' },
  { cidr: '198.18.0.0/15', why: 'benchmarking' },
  { cidr: '198.51.100.0/24', why: 'documentation' },
  { cidr: '203.0.113.0/24', why: 'documentation' },
  { cidr: '224.0.0.0/4', why: 'multicast' },
  { cidr: '240.0.0.0/4', why: 'reserved + broadcast' },
  { cidr: '168.63.129.16/32', why: 'Azure WireServer (a public address!)' },
  { cidr: '::/128', why: 'unspecified' },
  { cidr: '::1/128', why: 'loopback' },
  { cidr: '::/96', why: 'IPv4-compatible' },
  { cidr: '::ffff:0:0/96', why: 'IPv4-mapped: judge embedded' },
  { cidr: '64:ff9b::/96', why: 'NAT64 well-known' },
  { cidr: '64:ff9b:1::/48', why: 'NAT64 local' },
  { cidr: '100::/64', why: 'discard' },
  { cidr: '2001::/23', why: 'IETF incl. Teredo 2001::/32, ORCHID' },
  { cidr: '2001:db8::/32', why: 'documentation' },
  { cidr: '2002::/16', why: '6to4: embedded IPv4' },
  { cidr: '3fff::/20', why: 'documentation' },
  { cidr: '5f00::/16', why: 'SRv6 SIDs' },
  { cidr: 'fc00::/7', why: 'ULA; AWS fd00:ec2::254, GCP fd20:ce::254' },
  { cidr: 'fe80::/10', why: 'link-local' },
  { cidr: 'fec0::/10', why: 'site-local (deprecated)' },
  { cidr: 'ff00::/8', why: 'multicast' },
];

/** Services where clouds' machines get credentials or send orders. Opened by their own address, and by no wider range. */
export const METADATA: readonly ForbiddenRange[] = [
  { cidr: '169.254.169.254/32', why: 'AWS, Azure, Google Cloud, Oracle, OpenStack, DigitalOcean, Hetzner' },
  { cidr: '169.254.170.2/32', why: 'AWS ECS, credentials of a task' },
  { cidr: '169.254.170.23/32', why: 'AWS EKS, credentials of a pod' },
  { cidr: '169.254.0.23/32', why: 'Tencent Cloud' },
  { cidr: '169.254.42.42/32', why: 'Scaleway' },
  { cidr: '100.100.100.200/32', why: 'Alibaba Cloud' },
  { cidr: '192.0.0.192/32', why: 'Oracle Cloud Classic' },
  { cidr: '168.63.129.16/32', why: 'Azure WireServer' },
  { cidr: 'fd00:ec2::254/128', why: 'AWS' },
  { cidr: 'fd00:ec2::23/128', why: 'AWS EKS, credentials of a pod' },
  { cidr: 'fd00:c1::a9fe:a9fe/128', why: 'Oracle Cloud' },
  { cidr: 'fd20:ce::254/128', why: 'Google Cloud' },
  { cidr: 'fd00:42::42/128', why: 'Scaleway' },
  { cidr: 'fd00:a9fe:a9fe::1/128', why: 'Akamai (Linode)' },
  { cidr: 'fe80::a9fe:a9fe/128', why: 'OpenStack' },
];

const AWS = ['169.254.169.254', 'fd00:ec2::254'];
const GOOGLE = ['169.254.169.254', 'fd20:ce::254'];

/** Names of the clouds' metadata services, and the addresses to open for them. */
export const METADATA_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['metadata', GOOGLE],
  ['metadata.goog', GOOGLE],
  ['metadata.google.internal', GOOGLE],
  ['instance-data', AWS],
  ['instance-data.ec2.internal', AWS],
  ['metadata.azure.internal', ['169.254.169.254']],
  ['metadata.tencentyun.com', ['169.254.0.23']],
]);

/** All IPv6 assigned to the public Internet; any address outside is refused, whether or not it is listed above. */
export const PUBLIC_IPV6 = '2000::/3';

/** IPv6 spellings of IPv4 hosts: extracts the hosts from the address. */
export interface Carrier {
  readonly cidr: string;
  readonly embedded: (address: bigint) => readonly bigint[];
}

const LOW_32 = 0xffff_ffffn;

// Mapped addresses are missing here, since parseIp already reads them as IPv4. So is 64:ff9b:1::/48: the position of the
// IPv4 address in it depends on a prefix length that only its network knows (RFC 6052), so all of it is refused.
export const CARRIERS: readonly Carrier[] = [
  { cidr: '::/96', embedded: (address) => [address & LOW_32] },
  { cidr: '64:ff9b::/96', embedded: (address) => [address & LOW_32] },
  { cidr: '2002::/16', embedded: (address) => [(address >> 80n) & LOW_32] },
  // Teredo: the server, and the client's address with every bit flipped.
  { cidr: '2001::/32', embedded: (address) => [(address >> 64n) & LOW_32, ~address & LOW_32] },
];
