import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { duplicateValue, forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { definitionSchemaErrors } from './crdSchema.ts';
import { dns1035Label } from './names.ts';
import { fieldAt } from './schemaPath.ts';

/**
 * What is wrong with the versions of a CustomResourceDefinition. What all versions have in common is named by the place
 * that it once had, outside of them. Source: apiextensions' validateCustomResourceDefinitionSpec.
 * @param given whether the list is there at all, be it empty
 */
export function versionErrors(versions: readonly JsonObject[], given: boolean): FieldError[] {
  const [first] = versions;
  const errors: FieldError[] = [];
  const name = textAt(first, 'name');
  if (first !== undefined) errors.push(...dns1035Label(name).map((text) => invalidValue('spec.version', name, text)));
  const shares = (part: string): boolean =>
    versions.every((version) => equalJson(version[part] ?? null, first?.[part] ?? null));
  const hasStatus = versions.some((version) => objectAt(version, 'subresources')['status'] !== undefined);
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    const own = textAt(version, 'name');
    errors.push(...dns1035Label(own).map((text) => invalidValue(`${field}.name`, own, text)));
    errors.push(...deprecationErrors(version, `${field}.deprecationWarning`));
    const schema = objectAt(version, 'schema')['openAPIV3Schema'];
    if (!isJsonObject(schema)) errors.push(required(`${field}.schema.openAPIV3Schema`));
    const isFirst = index === 0;
    const at = (part: string, shared: string): string | undefined =>
      shares(part) ? (isFirst ? `spec.${shared}` : undefined) : `${field}.${part}`;
    const places = {
      schema: at('schema', 'validation'),
      subresources: at('subresources', 'subresources'),
      columns: at('additionalPrinterColumns', 'additionalPrinterColumns'),
      fields: at('selectableFields', 'selectableFields'),
    };
    if (places.schema !== undefined && isJsonObject(schema))
      errors.push(...definitionSchemaErrors(schema, `${places.schema}.openAPIV3Schema`, hasStatus));
    if (places.subresources !== undefined)
      errors.push(...scaleErrors(objectAt(version, 'subresources')['scale'], `${places.subresources}.scale`));
    if (places.columns !== undefined)
      for (const [at, column] of objectsAt(version, 'additionalPrinterColumns').entries())
        errors.push(...columnErrors(column, `${places.columns}[${at}]`));
    if (places.fields !== undefined && isJsonObject(schema))
      errors.push(...selectableErrors(objectsAt(version, 'selectableFields'), schema, places.fields));
  }
  return [...errors, ...wholeErrors(versions, given)];
}

function wholeErrors(versions: readonly JsonObject[], given: boolean): FieldError[] {
  const shown =
    versions.length === 0 && !given
      ? 'null'
      : JSON.stringify(versions.map((version) => internalVersion(version, versions)));
  const wrong = (why: string): FieldError => ({
    reason: 'FieldValueInvalid',
    field: 'spec.versions',
    message: `Invalid value: ${shown}: ${why}`,
  });
  const names = new Set(versions.map((version) => textAt(version, 'name')));
  const stored = versions.filter((version) => version['storage'] === true).length;
  return [
    ...(names.size < versions.length ? [wrong('must contain unique version names')] : []),
    ...(stored === 1 ? [] : [wrong('must have exactly one version marked as storage version')]),
  ];
}

/** A version as the server's own type prints, which has no JSON names; what all versions share is not in it. */
function internalVersion(version: JsonObject, versions: readonly JsonObject[]): JsonObject {
  const own = (part: string): Json =>
    versions.every((other) => equalJson(other[part] ?? null, versions[0]?.[part] ?? null))
      ? null
      : (version[part] ?? null);
  return {
    Name: textAt(version, 'name'),
    Served: version['served'] === true,
    Storage: version['storage'] === true,
    Deprecated: version['deprecated'] === true,
    DeprecationWarning: version['deprecationWarning'] ?? null,
    Schema: own('schema'),
    Subresources: own('subresources'),
    AdditionalPrinterColumns: own('additionalPrinterColumns'),
    SelectableFields: own('selectableFields'),
  };
}

function deprecationErrors(version: JsonObject, field: string): FieldError[] {
  const text = version['deprecationWarning'];
  if (typeof text !== 'string') return [];
  const wrong = (why: string): FieldError => invalidValue(field, text, why);
  if (version['deprecated'] !== true) return [wrong('can only be set for deprecated versions')];
  const at = Array.from(text).findIndex((char) => /\p{C}|\p{Zl}|\p{Zp}/u.test(char));
  return [
    ...(Buffer.byteLength(text) > 256 ? [wrong('must be <= 256 characters long')] : []),
    ...(text === '' ? [wrong('must not be an empty string')] : []),
    ...(at < 0
      ? []
      : [wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`)]),
  ];
}

function simplePathErrors(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalidValue(field, path, 'must be a simple json path starting with .')];
}

function scaleErrors(scale: Json | undefined, field: string): FieldError[] {
  if (!isJsonObject(scale)) return [];
  const check = (name: string, roots: readonly string[], where: string, optional: boolean): FieldError[] => {
    const path = textAt(scale, name);
    const place = `${field}.${name}`;
    if (path === '') return optional ? [] : [required(place)];
    const simple = simplePathErrors(path, place);
    if (simple.length > 0 || roots.some((root) => path.startsWith(root))) return simple;
    return [invalidValue(place, path, `should be a json path under ${where}`)];
  };
  return [
    ...check('specReplicasPath', ['.spec.'], '.spec', false),
    ...check('statusReplicasPath', ['.status.'], '.status', false),
    ...check('labelSelectorPath', ['.spec.', '.status.'], 'either .spec or .status', true),
  ];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnErrors(column: JsonObject, field: string): FieldError[] {
  const [name, type, format, path] = ['name', 'type', 'format', 'jsonPath'].map((part) => textAt(column, part));
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  const errors: FieldError[] = name === '' ? [required(`${field}.name`)] : [];
  if (type === '') errors.push(required(`${field}.type`, types));
  else if (!COLUMN_TYPES.includes(type ?? '')) errors.push(invalidValue(`${field}.type`, type, types));
  if (format !== '' && !COLUMN_FORMATS.includes(format ?? ''))
    errors.push(invalidValue(`${field}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  const place = `${field}.JSONPath`;
  return [...errors, ...(path === '' ? [required(place)] : simplePathErrors(path ?? '', place))];
}

const MAX_SELECTABLE = 8;

function selectableErrors(fields: readonly JsonObject[], schema: JsonObject, field: string): FieldError[] {
  const seen = new Set<string>();
  const errors = fields.flatMap((item, index): FieldError[] => {
    const path = textAt(item, 'jsonPath');
    const place = `${field}[${index}].jsonPath`;
    if (path === '') return [required(place)];
    const found = path.includes('[') ? 'array notation is not allowed' : fieldAt(schema, path);
    if (typeof found === 'string') return [invalidValue(place, path, `is an invalid path: ${found}`)];
    const own: FieldError[] = [];
    if (/^\.metadata(\.|$)/.test(path)) own.push(invalidValue(place, path, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(textAt(found, 'type'))) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      own.push(invalidValue(place, path, why));
    }
    if (seen.has(path)) own.push(duplicateValue(place, path));
    seen.add(path);
    return own;
  });
  if (seen.size <= MAX_SELECTABLE) return errors;
  const message = `Too many: ${seen.size}: must have at most ${MAX_SELECTABLE} items`;
  return [...errors, { reason: 'FieldValueTooMany', field, message }];
}

/** What is wrong with how a definition converts between its versions. */
export function conversionErrors(spec: JsonObject): FieldError[] {
  const conversion = objectAt(spec, 'conversion');
  const strategy = textAt(conversion, 'strategy');
  const webhook = objectAt(conversion, 'webhook');
  const reviews = textsAt(webhook, 'conversionReviewVersions');
  const client = webhook['clientConfig'];
  const [clientField, reviewField] = [
    'spec.conversion.webhookClientConfig',
    'spec.conversion.conversionReviewVersions',
  ];
  const errors: FieldError[] = [];
  if (!['None', 'Webhook'].includes(strategy))
    errors.push(notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook']));
  if (strategy !== 'Webhook') {
    const why = 'should not be set when strategy is not set to Webhook';
    if (isJsonObject(client)) errors.push(forbiddenField(clientField, why));
    if (reviews.length > 0) errors.push(forbiddenField(reviewField, why));
    return errors;
  }
  if (!isJsonObject(client)) errors.push(required(clientField, 'required when strategy is set to Webhook'));
  else if ((client['url'] === undefined) === (client['service'] === undefined))
    errors.push(required(clientField, 'exactly one of url or service is required'));
  else if (client['url'] !== undefined) errors.push(...urlErrors(textAt(client, 'url'), `${clientField}.url`));
  return [...errors, ...reviewErrors(reviews, reviewField)];
}

function urlErrors(text: string, field: string): FieldError[] {
  const form = 'desired format: https://host[/path]';
  const wrong = (value: string, why: string): FieldError => invalidValue(field, value, `${why}; ${form}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = /^([A-Za-z][-A-Za-z0-9+.]*):/.exec(text)?.[1] ?? '';
  const errors = scheme.toLowerCase() === 'https' ? [] : [wrong(scheme, "'https' is the only allowed URL scheme")];
  if (url === undefined || url.host === '') return [...errors, wrong(text, 'host must be specified')];
  if (url.username !== '') errors.push(wrong(url.username, 'user information is not permitted in the URL'));
  if (url.hash !== '') errors.push(wrong(url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '') errors.push(wrong(url.search.slice(1), 'query parameters are not permitted in the URL'));
  return errors;
}

function reviewErrors(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)];
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')]
      : dns1035Label(version).map((text) => invalidValue(`${field}[${index}]`, version, text)),
  );
  const isKnown = versions.some((version) => version === 'v1' || version === 'v1beta1');
  return isKnown ? errors : [...errors, invalidValue(field, [...versions], 'must include at least one of v1, v1beta1')];
}
