import { BlockList, isIP } from 'node:net';

import { invalidValue, type FieldError } from '../status.ts';

const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NOT_A_RANGE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** What is wrong with an IP address. */
export function ipErrors(field: string, value: string): FieldError[] {
  if (isIP(value) !== 0) {
    return /^::ffff:\d/i.test(value) ? [invalidValue(field, value, 'must not be an IPv4-mapped IPv6 address')] : [];
  }
  const withoutZeros = value.replaceAll(/(^|\.)0+(?=\d)/g, '$1');
  return [invalidValue(field, value, isIP(withoutZeros) === 4 ? 'must not have leading 0s' : NOT_AN_IP)];
}

const SPECIAL: readonly (readonly [string, readonly (readonly [string, number])[]])[] = [
  [
    'may not be in the loopback range (127.0.0.0/8, ::1/128)',
    [
      ['127.0.0.0', 8],
      ['::1', 128],
    ],
  ],
  [
    'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    [
      ['169.254.0.0', 16],
      ['fe80::', 10],
    ],
  ],
  [
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    [
      ['224.0.0.0', 24],
      ['ff02::', 16],
    ],
  ],
];

/** What is wrong with an address that traffic shall reach. */
export function endpointIpErrors(field: string, value: string): FieldError[] {
  const errors = ipErrors(field, value);
  if (errors.length > 0) return errors;
  if (value === '0.0.0.0' || /^[0:]+$/.test(value))
    return [invalidValue(field, value, `may not be unspecified (${value})`)];
  return SPECIAL.filter(([, ranges]) => isWithin(value, ranges)).map(([text]) => invalidValue(field, value, text));
}

function isWithin(ip: string, ranges: readonly (readonly [string, number])[]): boolean {
  const list = new BlockList();
  for (const [start, bits] of ranges) list.addSubnet(start, bits, family(start));
  return list.check(ip, family(ip));
}

const family = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 4 ? 'ipv4' : 'ipv6');

/** What is wrong with a range of addresses in the form of CIDR. */
export function cidrErrors(field: string, value: string): FieldError[] {
  const [ip = '', bits = '', ...more] = value.split('/');
  const size = isIP(ip) === 4 ? 32 : 128;
  if (isIP(ip) === 0 || more.length > 0 || !/^\d+$/.test(bits) || Number(bits) > size)
    return [invalidValue(field, value, NOT_A_RANGE)];
  return hasLooseBits(ip, Number(bits))
    ? [invalidValue(field, value, 'must not have bits set beyond the prefix length')]
    : [];
}

function hasLooseBits(ip: string, bits: number): boolean {
  if (isIP(ip) !== 4) return false;
  const number = ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return number % 2 ** (32 - bits) !== 0;
}
