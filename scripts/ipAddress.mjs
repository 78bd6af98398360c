// What `socks` needs of `ip-address`, which is much more: addresses as bytes, and back. Both are given only what `node:net` takes for one.

/** An address such as `127.0.0.1`. */
export class Address4 {
  constructor(text) {
    this.bytes = text.split('.').map(Number);
  }

  toArray() {
    return this.bytes;
  }
}

/** An address such as `fe80::1`, `::ffff:10.0.0.1` or `fe80::1%eth0`. */
export class Address6 {
  constructor(text) {
    const [address] = text.split('%');
    const [head, tail] = address.split('::').map(groupsOf);
    const zeros = Array.from({ length: tail === undefined ? 0 : 8 - head.length - tail.length }, () => 0);
    this.groups = [...head, ...zeros, ...(tail ?? [])];
  }

  static fromByteArray(bytes) {
    const groups = Array.from({ length: 8 }, (_, at) => (bytes[2 * at] << 8) | bytes[2 * at + 1]);
    return new Address6(groups.map((group) => group.toString(16)).join(':'));
  }

  /** All eight groups of four digits. */
  canonicalForm() {
    return this.groups.map((group) => group.toString(16).padStart(4, '0')).join(':');
  }
}

function groupsOf(text) {
  const parts = text === '' ? [] : text.split(':');
  return parts.flatMap((part) => {
    if (!part.includes('.')) return parseInt(part, 16);
    const [a, b, c, d] = new Address4(part).toArray();
    return [(a << 8) | b, (c << 8) | d];
  });
}
