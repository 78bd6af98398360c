/**
 * The formats of names and keys with the sentences of the API server.
 * Source: the Object Names and IDs and the Labels and Selectors pages of the Kubernetes documentation.
 */
export type NameCheck = (text: string) => string[];

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED})?`;
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const PORT_NAME_LENGTH = 15;

function sentence(text: string, format: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${text} (e.g. ${shown}regex used for validation is '${format}')`;
}

const compiled = new Map<string, RegExp>();

function matches(text: string, format: string): boolean {
  const known = compiled.get(format) ?? new RegExp(`^(?:${format})$`);
  compiled.set(format, known);
  return known.test(text);
}
const tooLongText = (max: number): string => `must be no more than ${max} bytes`;
const tooLongName = (max: number): string => `must be no more than ${max} characters`;

/** Names of most objects. */
export const dnsSubdomain: NameCheck = (text) => [
  ...(text.length > 253 ? [tooLongName(253)] : []),
  ...(matches(text, SUBDOMAIN)
    ? []
    : [
        sentence(
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
          SUBDOMAIN,
          'example.com',
        ),
      ]),
];

/** Names of namespaces, containers, volumes. */
export const dnsLabel: NameCheck = (text) => [
  ...(text.length > 63 ? [tooLongName(63)] : []),
  ...(matches(text, LABEL)
    ? []
    : matches(text, SUBDOMAIN)
      ? ['must not contain dots']
      : [
          sentence(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            LABEL,
            'my-name',
            '123-abc',
          ),
        ]),
];

/** Names of Services. */
export const dns1035Label: NameCheck = (text) => [
  ...(text.length > 63 ? [tooLongName(63)] : []),
  ...(matches(text, DNS1035)
    ? []
    : [
        sentence(
          "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
          DNS1035,
          'my-name',
          'abc-123',
        ),
      ]),
];

/** Names of roles: whatever can be a part of a path. */
export const pathSegment: NameCheck = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
};

/** Keys of labels and annotations, names of finalizers. */
export const qualifiedName: NameCheck = (text) => {
  const parts = text.split('/');
  const problem =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  if (parts.length > 2) {
    const shown = sentence(`a valid label key ${problem}`, QUALIFIED, 'MyName', 'my.name', '123-abc');
    return [`${shown} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  const errors: string[] = [];
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined;
  if (prefix === '') errors.push('prefix part must be non-empty');
  else if (prefix !== undefined)
    errors.push(
      ...dnsSubdomain(prefix).map((text) => `prefix part ${text.replace(tooLongName(253), tooLongText(253))}`),
    );
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push(`name part ${tooLongText(63)}`);
  if (!matches(name, QUALIFIED))
    errors.push(sentence(`name part ${problem}`, QUALIFIED, 'MyName', 'my.name', '123-abc'));
  return errors;
};

/** Values of labels. */
export const labelValue: NameCheck = (text) => [
  ...(text.length > 63 ? [tooLongText(63)] : []),
  ...(matches(text, LABEL_VALUE)
    ? []
    : [
        sentence(
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
          LABEL_VALUE,
          'MyValue',
          'my_value',
          '12345',
        ),
      ]),
];

/** Keys of ConfigMaps and Secrets. */
export const configKey: NameCheck = (text) => [
  ...(text.length > 253 ? [`must be no more than 253 characters`] : []),
  ...(matches(text, CONFIG_KEY)
    ? text === '.' || text.startsWith('..')
      ? [text === '.' ? "must not be '.'" : text === '..' ? "must not be '..'" : "must not start with '..'"]
      : []
    : [
        sentence(
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
          CONFIG_KEY,
          'key.name',
          'KEY_NAME',
          'key-name',
        ),
      ]),
];

/** Names of ports, to which Services refer. */
export const portName: NameCheck = (text) => {
  const errors: string[] = [];
  if (text.length > PORT_NAME_LENGTH) errors.push(`must be no more than ${PORT_NAME_LENGTH} characters`);
  if (!/^[-a-z0-9]+$/.test(text)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) errors.push('must contain at least one letter (a-z)');
  if (text.includes('--')) errors.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
};

/** Names of environment variables. */
export const envName: NameCheck = (text) =>
  text !== '' && /^[ -<>-~]+$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** Numbers of ports. */
export function portNumber(port: number): string[] {
  return Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive'];
}
