import { goQuote } from './goText.ts';
import { isTrue } from './requestInfo.ts';
import {
  badRequest,
  forbiddenField,
  invalid,
  invalidValue,
  notSupported,
  required,
  tooLong,
  type FieldError,
  type StatusError,
} from './status.ts';

/** The options of POST, PUT, PATCH that come in the query. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** The field manager named in the query; '' if none. */
  readonly fieldManager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  readonly force: boolean;
}

/** The error of options that are wrong: they are validated like an object. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): StatusError {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** Reads and validates the query of a write. Throws 400 or 422. */
export function readWriteOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
  apply = false,
): WriteOptions {
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors: FieldError[] = [];
  if (kind === 'PatchOptions') {
    if (apply && fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'));
    if (!apply && query.has('force')) errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  }
  errors.push(...managerErrors(fieldManager), ...dryRunErrors(dryRun));
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: isDryRun(dryRun),
    fieldManager,
    fieldValidation: fieldValidation === 'Strict' || fieldValidation === 'Ignore' ? fieldValidation : 'Warn',
    force: isTrue(query.get('force')),
  };
}

/** Whether dryRun values, already validated, ask for a dry run. */
export function isDryRun(values: readonly string[]): boolean {
  return values.length > 0;
}

/** Only `All` is allowed, any number of times. */
export function dryRunErrors(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  const shown = `[${values.map((value) => JSON.stringify(value)).join(',')}]`;
  return [
    {
      reason: 'FieldValueNotSupported',
      field: 'dryRun',
      message: `Unsupported value: ${shown}: supported values: "All"`,
    },
  ];
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > 128) errors.push(tooLong('fieldManager', 128));
  let position = 0;
  for (const char of manager) {
    const code = char.codePointAt(0) ?? 0;
    if (
      code < 0x20 ||
      (code >= 0x7f && code < 0xa0) ||
      code === 0xad ||
      /\p{Zl}|\p{Zp}|\p{C}/u.test(char) ||
      (char !== ' ' && /\p{Zs}/u.test(char))
    ) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
      errors.push(invalidValue('fieldManager', manager, `invalid character ${name} (at position ${position})`));
    }
    position += Buffer.byteLength(char);
  }
  return errors;
}

/** Who owns what a write sets: the manager it names, else the User-Agent up to the first slash, at most 128 printable bytes. */
export function managerOf(options: { fieldManager: string }, userAgent: string): string {
  if (options.fieldManager !== '') return options.fieldManager;
  let manager = '';
  for (const char of userAgent.split('/')[0] ?? '') {
    if (Buffer.byteLength(manager + char) > 128) break;
    if (!/\p{C}|\p{Zl}|\p{Zp}/u.test(char)) manager += char;
  }
  return manager;
}

/** The options of GET on a collection, watch included. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continueToken: string;
  readonly watch: boolean;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** Reads and validates the query of a list or watch. Throws 400 or 422. */
export function readListOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const given: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: readInteger(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    watch,
    timeoutSeconds: readInteger(query, 'timeoutSeconds'),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined,
  };
  const options = watch ? withWatchDefaults(given) : given;
  const errors = watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  return options;
}

/** A watch that begins at no version streams what is there first, as if it had asked so. Source: SetListOptionsDefaults. */
function withWatchDefaults(options: ListOptions): ListOptions {
  const legacy = options.resourceVersion === '' || options.resourceVersion === '0';
  if (options.sendInitialEvents !== undefined || options.resourceVersionMatch !== '' || !legacy) return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

/** A number of the query; undefined if absent or empty. Throws 400. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[-+]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`);
  if (!Number.isSafeInteger(Number(text)) && BigInt(text) > 9223372036854775807n) {
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`);
  }
  return Number(text);
}

function listErrors(options: ListOptions): FieldError[] {
  const match = options.resourceVersionMatch;
  const errors: FieldError[] = [];
  if (match !== '') errors.push(...matchErrors(options, match));
  if (options.sendInitialEvents !== undefined)
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function matchErrors(options: ListOptions, match: string): FieldError[] {
  const errors: FieldError[] = [];
  if (options.resourceVersion === '') {
    errors.push(
      forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  }
  if (options.continueToken !== '')
    errors.push(forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  }
  if (match === 'Exact' && options.resourceVersion === '0') {
    errors.push(
      forbiddenField('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    );
  }
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const match = options.resourceVersionMatch;
  const errors: FieldError[] = [];
  const streaming = options.sendInitialEvents !== undefined;
  if (streaming && match !== 'NotOlderThan') {
    errors.push(
      forbiddenField('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  }
  if (match === '') return errors;
  if (!streaming)
    errors.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  if (options.continueToken !== '')
    errors.push(forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
}
