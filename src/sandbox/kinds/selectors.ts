import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject, stringifyJson } from '../../codec/json.ts';
import { forbiddenField, invalidValue, required, type FieldError } from '../status.ts';
import { objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { labelValue, qualifiedName } from './names.ts';
import { plainText } from '../schema/plainText.ts';

/** Whether labels meet a label selector; no selector selects nothing, an empty one everything. */
export function selects(selector: JsonObject | undefined, labels: JsonObject): boolean {
  if (selector === undefined) return false;
  const wanted = objectAt(selector, 'matchLabels');
  if (!Object.keys(wanted).every((key) => labels[key] === wanted[key])) return false;
  return objectsAt(selector, 'matchExpressions').every((requirement) => meets(requirement, labels));
}

function meets(requirement: JsonObject, labels: JsonObject): boolean {
  const value = labels[textAt(requirement, 'key')];
  const values = textsAt(requirement, 'values');
  switch (textAt(requirement, 'operator')) {
    case 'In':
      return typeof value === 'string' && values.includes(value);
    case 'NotIn':
      return typeof value !== 'string' || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

/** What is wrong with a label selector. */
export function selectorErrors(selector: JsonObject, field: string): FieldError[] {
  const labels = Object.entries(objectAt(selector, 'matchLabels')).flatMap(([key, value]) => [
    ...qualifiedName(key).map((text) => invalidValue(`${field}.matchLabels`, key, text)),
    ...labelValue(plainText(value)).map((text) => invalidValue(`${field}.matchLabels`, value, text)),
  ]);
  return [
    ...labels,
    ...objectsAt(selector, 'matchExpressions').flatMap((item, index) =>
      requirementErrors(item, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

function requirementErrors(requirement: JsonObject, field: string): FieldError[] {
  const values = textsAt(requirement, 'values');
  const operator = textAt(requirement, 'operator');
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(
        forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
  } else {
    errors.push(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  }
  const key = textAt(requirement, 'key');
  return [...errors, ...qualifiedName(key).map((text) => invalidValue(`${field}.key`, key, text))];
}

/** The selector of a workload: there, not empty, and selecting the labels of its own template. */
export function ownSelectorErrors(spec: JsonObject, owner: 'deployment' | 'statefulset' | 'daemonset'): FieldError[] {
  const given = spec['selector'];
  const selector = isJsonObject(given) ? given : undefined;
  const errors: FieldError[] = [];
  if (selector === undefined) {
    if (owner !== 'daemonset') errors.push(required('spec.selector'));
  } else {
    errors.push(...selectorErrors(selector, 'spec.selector'));
    if (isEmptySelector(selector))
      errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${owner}`));
  }
  if (selector !== undefined && !isReadable(selector)) {
    const why = { deployment: 'invalid label selector', statefulset: '', daemonset: undefined }[owner];
    return why === undefined ? errors : [...errors, invalidValue('spec.selector', selector, why)];
  }
  const labels = objectAt(spec, 'template', 'metadata')['labels'];
  const isChosen =
    selector !== undefined && (isEmptySelector(selector) || selects(selector, isJsonObject(labels) ? labels : {}));
  if (!isChosen) errors.push(labelsMismatch(labels));
  return errors;
}

/** Labels that are not there show as a bare null. */
function labelsMismatch(labels: JsonObject[string] | undefined): FieldError {
  const shown = isJsonObject(labels) ? stringifyJson(labels) : 'null';
  return {
    reason: 'FieldValueInvalid',
    field: 'spec.template.metadata.labels',
    message: `Invalid value: ${shown}: \`selector\` does not match template \`labels\``,
  };
}

/** Whether a selector can be understood at all; if not, templates are not looked at. */
function isReadable(selector: JsonObject): boolean {
  return selectorErrors(selector, '').length === 0;
}

function isEmptySelector(selector: JsonObject): boolean {
  return Object.keys(objectAt(selector, 'matchLabels')).length + objectsAt(selector, 'matchExpressions').length === 0;
}
