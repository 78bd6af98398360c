import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { duplicateValue, forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { numberAt, objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { ipErrors } from './addresses.ts';
import { dnsSubdomain, labelValue, qualifiedName } from './names.ts';

const MAX_ID = 2 ** 31 - 1;
const SYSCTL = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];

/** What is wrong with tolerations. */
export function tolerationErrors(tolerations: readonly JsonObject[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const place = `${field}[${index}]`;
    const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((name) =>
      textAt(toleration, name),
    ) as [string, string, string, string];
    const errors = key === '' ? [] : qualifiedName(key).map((text) => invalidValue(`${place}.key`, key, text));
    if (key === '' && operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${place}.operator`, operator, why));
    }
    if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute')
      errors.push(
        invalidValue(`${place}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      );
    errors.push(...operatorErrors(operator, value, place));
    if (effect !== '' && !EFFECTS.includes(effect)) errors.push(notSupported(`${place}.effect`, effect, EFFECTS));
    return errors;
  });
}

function operatorErrors(operator: string, value: string, place: string): FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const wrong = labelValue(value);
      return wrong.length === 0 ? [] : [invalidValue(`${place}.operator`, value, wrong.join(';'))];
    }
    case 'Exists':
      return value === ''
        ? []
        : [invalidValue(`${place}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [notSupported(`${place}.operator`, operator, ['Equal', 'Exists', 'Gt', 'Lt'])];
    default:
      return [notSupported(`${place}.operator`, operator, ['Equal', 'Exists'])];
  }
}

/** What is wrong with topology spread constraints. */
export function spreadErrors(constraints: readonly JsonObject[], field: string): FieldError[] {
  return constraints.flatMap((constraint, index) => {
    const place = `${field}[${index}]`;
    const skew = numberAt(constraint, 'maxSkew') ?? 0;
    const key = textAt(constraint, 'topologyKey');
    const action = textAt(constraint, 'whenUnsatisfiable');
    const errors: FieldError[] = [];
    if (skew <= 0) errors.push(invalidValue(`${place}.maxSkew`, skew, 'must be greater than zero'));
    if (key === '') errors.push(required(`${place}.topologyKey`, 'can not be empty'));
    const actions = ['DoNotSchedule', 'ScheduleAnyway'];
    if (!actions.includes(action)) errors.push(notSupported(`${place}.whenUnsatisfiable`, action, actions));
    const isRepeated = constraints
      .slice(index + 1)
      .some((other) => textAt(other, 'topologyKey') === key && textAt(other, 'whenUnsatisfiable') === action);
    if (isRepeated) errors.push(duplicateValue(`${place}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`));
    return errors;
  });
}

/** What is wrong with affinities. */
export function affinityErrors(affinity: JsonObject, field: string): FieldError[] {
  const node = objectAt(affinity, 'nodeAffinity');
  const demanded = node['requiredDuringSchedulingIgnoredDuringExecution'];
  const place = `${field}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const terms = isJsonObject(demanded) ? objectsAt(demanded, 'nodeSelectorTerms') : [];
  const errors =
    isJsonObject(demanded) && terms.length === 0
      ? [required(place, 'must have at least one node selector term')]
      : terms.flatMap((term, index) => termErrors(term, `${place}[${index}]`));
  for (const [index, item] of objectsAt(node, 'preferredDuringSchedulingIgnoredDuringExecution').entries()) {
    const at = `${field}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    errors.push(...weightErrors(item, at), ...termErrors(objectAt(item, 'preference'), `${at}.preference`));
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const hard = 'requiredDuringSchedulingIgnoredDuringExecution';
    const soft = 'preferredDuringSchedulingIgnoredDuringExecution';
    for (const [index, term] of objectsAt(affinity, kind, hard).entries())
      errors.push(...podTermErrors(term, `${field}.${kind}.${hard}[${index}]`));
    for (const [index, item] of objectsAt(affinity, kind, soft).entries()) {
      const at = `${field}.${kind}.${soft}[${index}]`;
      errors.push(...weightErrors(item, at));
      errors.push(...podTermErrors(objectAt(item, 'podAffinityTerm'), `${at}.podAffinityTerm`));
    }
  }
  return errors;
}

function weightErrors(item: JsonObject, place: string): FieldError[] {
  const weight = numberAt(item, 'weight') ?? 0;
  return weight < 1 || weight > 100 ? [invalidValue(`${place}.weight`, weight, 'must be in the range 1-100')] : [];
}

function podTermErrors(term: JsonObject, place: string): FieldError[] {
  const key = textAt(term, 'topologyKey');
  const errors = key === '' ? [required(`${place}.topologyKey`, 'can not be empty')] : [];
  return [...errors, ...qualifiedName(key).map((text) => invalidValue(`${place}.topologyKey`, key, text))];
}

function termErrors(term: JsonObject, place: string): FieldError[] {
  return objectsAt(term, 'matchExpressions').flatMap((rule, index) =>
    requirementErrors(rule, `${place}.matchExpressions[${index}]`),
  );
}

function requirementErrors(rule: JsonObject, place: string): FieldError[] {
  const operator = textAt(rule, 'operator');
  const values = textsAt(rule, 'values');
  const key = textAt(rule, 'key');
  const errors: FieldError[] = [];
  const at = `${place}.values`;
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(forbiddenField(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1)
      errors.push(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.push(invalidValue(`${place}.operator`, operator, 'not a valid selector operator'));
  errors.push(...qualifiedName(key).map((text) => invalidValue(`${place}.key`, key, text)));
  for (const [index, value] of values.entries())
    errors.push(...labelValue(value).map((text) => invalidValue(`${at}[${index}]`, value, text)));
  return errors;
}

/** What is wrong with how names are resolved. */
export function dnsConfigErrors(spec: JsonObject, field: string): FieldError[] {
  const config = spec['dnsConfig'];
  const servers = textsAt(objectAt(spec, 'dnsConfig'), 'nameservers');
  if (textAt(spec, 'dnsPolicy') === 'None') {
    if (!isJsonObject(config)) return [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (servers.length === 0)
      return [required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  }
  if (!isJsonObject(config)) return [];
  const errors: FieldError[] = [];
  if (servers.length > 3)
    errors.push(invalidValue(`${field}.nameservers`, servers, 'must not have more than 3 nameservers'));
  errors.push(...servers.flatMap((server, index) => ipErrors(`${field}.nameservers[${index}]`, server)));
  for (const [index, option] of objectsAt(config, 'options').entries())
    if (textAt(option, 'name') === '') errors.push(required(`${field}.options[${index}]`, 'must not be empty'));
  return errors;
}

/** What is wrong with host aliases. */
export function hostAliasErrors(aliases: readonly JsonObject[], field: string): FieldError[] {
  return aliases.flatMap((alias, index) => [
    ...ipErrors(`${field}[${index}].ip`, textAt(alias, 'ip')),
    ...textsAt(alias, 'hostnames').flatMap((name, position) =>
      dnsSubdomain(name).map((text) => invalidValue(`${field}[${index}].hostnames[${position}]`, name, text)),
    ),
  ]);
}

/** What is wrong with a pod's security context. */
export function securityErrors(context: JsonObject, field: string): FieldError[] {
  const errors = ['fsGroup', 'runAsUser', 'runAsGroup'].flatMap((name) =>
    idErrors(numberAt(context, name), `${field}.${name}`),
  );
  const names = new Set<string>();
  for (const [index, sysctl] of objectsAt(context, 'sysctls').entries()) {
    const place = `${field}.sysctls[${index}].name`;
    const name = textAt(sysctl, 'name');
    if (name === '') errors.push(required(place));
    else if (name.length > 253 || !new RegExp(`^${SYSCTL}$`).test(name))
      errors.push(invalidValue(place, name, `must have at most 253 characters and match regex ^${SYSCTL}$`));
    else if (names.has(name)) errors.push(duplicateValue(place, name));
    names.add(name);
  }
  return errors;
}

/** What is wrong with the number of a user or group. */
export function idErrors(id: number | undefined, field: string): FieldError[] {
  return id !== undefined && (id < 0 || id > MAX_ID)
    ? [invalidValue(field, id, `must be between 0 and ${MAX_ID}, inclusive`)]
    : [];
}
