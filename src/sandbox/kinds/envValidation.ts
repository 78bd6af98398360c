import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { objectAt, textAt } from './access.ts';
import { configKey, envName, qualifiedName } from './names.ts';

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];
const FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const OTHER_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
];
const RESOURCES = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${list}.${name}`),
);

/** What is wrong with environment variables. */
export function envErrors(list: readonly JsonObject[], field: string): FieldError[] {
  return list.flatMap((env, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(env, 'name');
    const errors =
      name === ''
        ? [required(`${place}.name`)]
        : envName(name).map((text) => invalidValue(`${place}.name`, name, text));
    const source = env['valueFrom'];
    return isJsonObject(source)
      ? [...errors, ...sourceErrors(source, textAt(env, 'value'), `${place}.valueFrom`)]
      : errors;
  });
}

function sourceErrors(source: JsonObject, value: string, field: string): FieldError[] {
  const given = SOURCES.filter((name) => isJsonObject(source[name]));
  const errors = given.flatMap((name) => oneSourceErrors(name, objectAt(source, name), `${field}.${name}`));
  const wrong = (text: string): FieldError => invalidValue(field, '', text);
  if (given.length === 0) {
    const why =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    return [...errors, wrong(why)];
  }
  if (value !== '') return [...errors, wrong('may not be specified when `value` is not empty')];
  return given.length > 1 ? [...errors, wrong('may not have more than one field specified at a time')] : errors;
}

function oneSourceErrors(kind: string, source: JsonObject, field: string): FieldError[] {
  switch (kind) {
    case 'configMapKeyRef':
    case 'secretKeyRef': {
      const key = textAt(source, 'key');
      const errors = textAt(source, 'name') === '' ? [required(`${field}.name`)] : [];
      if (key === '') return [...errors, required(`${field}.key`)];
      return [...errors, ...configKey(key).map((text) => invalidValue(`${field}.key`, key, text))];
    }
    case 'fieldRef':
      return fieldRefErrors(textAt(source, 'fieldPath'), field);
    case 'resourceFieldRef': {
      const resource = textAt(source, 'resource');
      if (resource === '') return [required(`${field}.resource`)];
      const isKnown = RESOURCES.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
      return isKnown ? [] : [notSupported(`${field}.resource`, resource, RESOURCES)];
    }
    default:
      return [];
  }
}

function fieldRefErrors(path: string, field: string): FieldError[] {
  if (path === '') return [required(`${field}.fieldPath`)];
  const subscript = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path);
  if (subscript !== null) {
    const key = subscript[2] ?? '';
    const checked = subscript[1] === 'annotations' ? key.toLowerCase() : key;
    return qualifiedName(checked).map((text) => invalidValue(field, checked, text));
  }
  if (!FIELDS.includes(path) && !OTHER_FIELDS.includes(path)) {
    const why = `error converting fieldPath: field label not supported: ${path}`;
    return [invalidValue(`${field}.fieldPath`, path, why)];
  }
  return FIELDS.includes(path) ? [] : [notSupported(`${field}.fieldPath`, path, FIELDS)];
}

/** What is wrong with sources of whole environments. */
export function envFromErrors(list: readonly JsonObject[], field: string): FieldError[] {
  return list.flatMap((source, index) => {
    const place = `${field}[${index}]`;
    const prefix = textAt(source, 'prefix');
    const errors = prefix === '' ? [] : envName(prefix).map((text) => invalidValue(`${place}.prefix`, prefix, text));
    const given = ['configMapRef', 'secretRef'].filter((name) => isJsonObject(source[name]));
    for (const name of given) if (textAt(source, name, 'name') === '') errors.push(required(`${place}.${name}.name`));
    if (given.length === 0) errors.push(invalidValue(place, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (given.length > 1) errors.push(invalidValue(place, '', 'may not have more than one field specified at a time'));
    return errors;
  });
}
