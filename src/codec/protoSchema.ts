import data from './data/proto.json' with { type: 'json' };

/** A field of a message with what JSON needs to know of its Go type. */
export interface ProtoField {
  readonly id: number;
  /** The name in JSON; '' for a field that JSON does not show under a name of its own. */
  readonly name: string;
  /** A scalar type of protobuf, or the message in `message`. */
  readonly scalar: string | undefined;
  readonly message: MessageName | undefined;
  readonly repeated: boolean;
  readonly map: boolean;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly inline: boolean;
}

/** A message by its package (such as `k8s.io.api.core.v1`) and name. */
export interface MessageName {
  readonly package: string;
  readonly name: string;
}

/** A message's fields by number; `list` for a Go slice type that travels as a message of items. */
export interface ProtoMessage {
  readonly fields: ReadonlyMap<number, ProtoField>;
  readonly list: boolean;
}

interface ProtoData {
  source: string;
  packages: string[];
  groups: Record<string, number>;
  messages: Record<string, string>[];
}

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const known = new Map<string, ProtoMessage | undefined>();
const proto = data as unknown as ProtoData;

/** The message that carries a kind of an apiVersion; what every group shares (DeleteOptions, Status) is found in meta/v1. */
export function messageOfKind(apiVersion: string, kind: string): MessageName | undefined {
  const index = proto.groups[apiVersion];
  const name = index === undefined ? undefined : proto.packages[index];
  if (name !== undefined && hasMessage(name, kind)) return { package: name, name: kind };
  return hasMessage(META, kind) ? { package: META, name: kind } : undefined;
}

function hasMessage(packageName: string, name: string): boolean {
  return Object.hasOwn(proto.messages[proto.packages.indexOf(packageName)] ?? {}, name);
}

/** The fields of a message, or undefined where the published files declare none of this name. */
export function protoMessage(name: MessageName): ProtoMessage | undefined {
  const key = `${name.package}.${name.name}`;
  if (!known.has(key)) known.set(key, parseMessage(name));
  return known.get(key);
}

function parseMessage(name: MessageName): ProtoMessage | undefined {
  const printed = proto.messages[proto.packages.indexOf(name.package)]?.[name.name];
  if (printed === undefined) return undefined;
  if (printed === '@list') return { fields: new Map(), list: true };
  const fields = printed
    .split(';')
    .filter((part) => part !== '')
    .map(parseField);
  return { fields: new Map(fields.map((field) => [field.id, field])), list: false };
}

function parseField(text: string): ProtoField {
  const [id = '', name = '', type = '', flags = ''] = text.split(' ');
  const [owner = '', message] = type.split(':');
  return {
    id: Number(id),
    name,
    scalar: message === undefined ? type : undefined,
    message: message === undefined ? undefined : { package: proto.packages[Number(owner)] ?? '', name: message },
    repeated: flags.includes('r'),
    map: flags.includes('m'),
    pointer: flags.includes('p'),
    omitEmpty: flags.includes('o'),
    omitZero: flags.includes('z'),
    inline: flags.includes('i'),
  };
}
