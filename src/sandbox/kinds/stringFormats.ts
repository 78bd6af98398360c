import { isIP, isIPv4, isIPv6 } from 'node:net';

import { dnsLabel, dnsSubdomain } from './names.ts';

const HEX = '[0-9a-f]';
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const CREDIT_CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;

const uuid = (version: string, variant = HEX): RegExp =>
  new RegExp(`^${HEX}{8}-?${HEX}{4}-?${version}${HEX}{3}-?${variant}${HEX}{3}-?${HEX}{12}$`, 'i');

/** The formats of texts that a schema may demand, by their names without dashes. Source: kube-openapi's strfmt. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matches(new RegExp(`^${HEX}{24}$`, 'i')),
  uri: matches(/^([A-Za-z][-A-Za-z0-9+.]*:|\/)[^\s]*$/),
  email: matches(/^[^@\s]+@[^@\s]+$/),
  hostname: (text) => HOSTNAME.test(text) && text.length <= 255 && text.split('.').every((part) => part.length <= 63),
  ipv4: isIPv4,
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  cidr: isCidr,
  mac: matches(
    /^([0-9a-f]{2}([:-]))([0-9a-f]{2}\2){4}([0-9a-f]{2}|([0-9a-f]{2}\2){2}[0-9a-f]{2})$|^([0-9a-f]{4}\.){2,3}[0-9a-f]{4}$/i,
  ),
  uuid: matches(uuid(HEX)),
  uuid3: matches(uuid('3')),
  uuid4: matches(uuid('4', '[89ab]')),
  uuid5: matches(uuid('5', '[89ab]')),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: (text) => isCreditCard(text.replaceAll(/\D+/g, '')),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(new RegExp(String.raw`^rgb\(\s*${BYTE}\s*,\s*${BYTE}\s*,\s*${BYTE}\s*\)$`)),
  byte: matches(/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  password: () => true,
  date: isDate,
  duration: matches(
    /^(-?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+|0|\d+ ?(ns|us|ms|s|m|h|d|w|(nano|micro|milli)s(ecs?|econds?)?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|wks?|weeks?))$/i,
  ),
  datetime: (text) => {
    const found = /^(\d{4}-\d\d-\d\d)[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(text);
    return found?.[1] !== undefined && isDate(found[1]);
  },
  k8sshortname: (text) => dnsLabel(text).length === 0,
  k8slongname: (text) => dnsSubdomain(text).length === 0,
};

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && rest.length === 0 && /^(0|[1-9]\d*)$/.test(bits ?? '') && Number(bits) <= most;
}

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (found === null) return false;
  const [, year, month, day] = found.map(Number);
  const date = new Date(Date.UTC(2000, (month ?? 0) - 1, day));
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day);
  return date.getUTCMonth() === (month ?? 0) - 1 && date.getUTCDate() === day;
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return (
    Array.from(digits).reduce((sum, digit, index) => sum + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
  );
}

function isCreditCard(digits: string): boolean {
  if (!CREDIT_CARD.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

const plain = (format: string): string => format.replaceAll('-', '');

/** Whether the server knows a format of texts; others are taken for documentation. */
export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(FORMATS, plain(format));
}

/** Whether a text has a format; every text has one that is not known. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS[plain(format)]?.(text) ?? true;
}
