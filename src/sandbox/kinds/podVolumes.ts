import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { duplicateValue, forbiddenField, invalidValue, required, type FieldError } from '../status.ts';
import { numberAt, objectAt, objectsAt, textAt } from './access.ts';
import { dnsLabel } from './names.ts';

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

/** Errors of volumes; the names of those without any are added to `valid`: only they can be mounted. */
export function volumeErrors(
  volumes: readonly JsonObject[],
  field: string,
  serviceAccount: string,
  valid: Set<string>,
): FieldError[] {
  return volumes.flatMap((volume, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(volume, 'name');
    const sources = Object.keys(volume).filter((key) => key !== 'name');
    const [first, ...more] = sources;
    const errors = first === undefined ? [] : sourceErrors(first, volume, `${place}.${first}`, serviceAccount);
    for (const source of more)
      errors.push(forbiddenField(`${place}.${source}`, 'may not specify more than 1 volume type'));
    if (name === '') errors.push(required(`${place}.name`));
    else errors.push(...dnsLabel(name).map((text) => invalidValue(`${place}.name`, name, text)));
    if (valid.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    if (errors.length === 0) valid.add(name);
    return errors;
  });
}

function sourceErrors(kind: string, volume: JsonObject, field: string, serviceAccount: string): FieldError[] {
  const source = objectAt(volume, kind);
  switch (kind) {
    case 'configMap':
    case 'secret': {
      const name = kind === 'secret' ? 'secretName' : 'name';
      const errors = textAt(source, name) === '' ? [required(`${field}.${name}`)] : [];
      errors.push(...modeErrors(numberAt(source, 'defaultMode'), `${field}.defaultMode`));
      return [...errors, ...itemErrors(objectsAt(source, 'items'), `${field}.items`)];
    }
    case 'persistentVolumeClaim':
      return textAt(source, 'claimName') === '' ? [required(`${field}.claimName`)] : [];
    case 'hostPath': {
      const path = textAt(source, 'path');
      return path === '' ? [required(`${field}.path`)] : backstepErrors(path, `${field}.path`);
    }
    case 'nfs': {
      const errors = ['server', 'path'].flatMap((name) =>
        textAt(source, name) === '' ? [required(`${field}.${name}`)] : [],
      );
      const path = textAt(source, 'path');
      return path !== '' && !path.startsWith('/')
        ? [...errors, invalidValue(`${field}.path`, path, 'must be an absolute path')]
        : errors;
    }
    case 'projected':
      return objectsAt(source, 'sources').flatMap((part, index) =>
        isJsonObject(part['serviceAccountToken']) && serviceAccount === ''
          ? [
              forbiddenField(
                `${field}.sources[${index}].serviceAccountToken`,
                'must not be specified when serviceAccountName is not set',
              ),
            ]
          : [],
      );
    default:
      return [];
  }
}

function itemErrors(items: readonly JsonObject[], field: string): FieldError[] {
  return items.flatMap((item, index) => {
    const place = `${field}[${index}]`;
    const path = textAt(item, 'path');
    const errors = textAt(item, 'key') === '' ? [required(`${place}.key`)] : [];
    if (path === '') errors.push(required(`${place}.path`));
    errors.push(...descendingPathErrors(path, `${place}.path`));
    if (path.startsWith('..') && !path.startsWith('../') && path !== '..')
      errors.push(invalidValue(`${place}.path`, path, "must not start with '..'"));
    return [...errors, ...modeErrors(numberAt(item, 'mode'), `${place}.mode`)];
  });
}

function modeErrors(mode: number | undefined, field: string): FieldError[] {
  return mode !== undefined && (mode < 0 || mode > 0o777) ? [invalidValue(field, mode, MODE)] : [];
}

/** The errors of a path that must stay below where it begins. */
export function descendingPathErrors(path: string, field: string): FieldError[] {
  const errors = path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : [];
  return [...errors, ...backstepErrors(path, field)];
}

function backstepErrors(path: string, field: string): FieldError[] {
  return path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : [];
}
