import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson } from '../../codec/json.ts';
import { invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { objectAt, objectsAt, setDefault, textAt, textsAt } from './access.ts';
import { ageOf } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { dnsSubdomain, pathSegment } from './names.ts';

const PLACE = 'apis/rbac.authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';
const COMMON = { place: PLACE, checkName: pathSegment, createOnUpdate: true, metadataChecks: { changes: 1, whole: 1 } };

/** Roles, ClusterRoles and their bindings: plain objects here, which grant nothing. */
export function rbacKinds(): Kind[] {
  return [
    roleKind('roles', true),
    roleKind('clusterroles', false),
    bindingKind('rolebindings', true),
    bindingKind('clusterrolebindings', false),
  ];
}

function roleKind(plural: string, namespaced: boolean): Kind {
  return defineKind({
    ...COMMON,
    plural,
    validate: (object) => [
      ...objectsAt(object, 'rules').flatMap((rule, index) => ruleErrors(rule, namespaced, `rules[${index}]`)),
      ...aggregationErrors(object),
    ],
    cells: (object) => [textAt(object, 'metadata', 'name'), textAt(object, 'metadata', 'creationTimestamp')],
  });
}

function aggregationErrors(object: JsonObject): FieldError[] {
  if (object['aggregationRule'] === undefined || object['aggregationRule'] === null) return [];
  const why = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  return objectsAt(object, 'aggregationRule', 'clusterRoleSelectors').length > 0
    ? []
    : [required('aggregationRule.clusterRoleSelectors', why)];
}

function ruleErrors(rule: JsonObject, namespaced: boolean, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const urls = textsAt(rule, 'nonResourceURLs');
  if (textsAt(rule, 'verbs').length === 0)
    errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  if (urls.length > 0) {
    if (namespaced)
      errors.push(invalidValue(`${field}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs'));
    const isMixed = ['apiGroups', 'resources', 'resourceNames'].some((name) => textsAt(rule, name).length > 0);
    if (isMixed)
      errors.push(
        invalidValue(
          `${field}.nonResourceURLs`,
          urls,
          'rules cannot apply to both regular resources and non-resource URLs',
        ),
      );
    return errors;
  }
  if (textsAt(rule, 'apiGroups').length === 0)
    errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (textsAt(rule, 'resources').length === 0)
    errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}

function bindingKind(plural: string, namespaced: boolean): Kind {
  return defineKind({
    ...COMMON,
    plural,
    defaults: (object) => {
      const role = object['roleRef'];
      if (role !== undefined) setDefault(objectAt(object, 'roleRef'), 'apiGroup', GROUP);
      for (const subject of objectsAt(object, 'subjects'))
        if (['User', 'Group'].includes(textAt(subject, 'kind'))) setDefault(subject, 'apiGroup', GROUP);
    },
    validate: (object) => [
      ...roleRefErrors(objectAt(object, 'roleRef'), namespaced),
      ...objectsAt(object, 'subjects').flatMap((subject, index) =>
        subjectErrors(subject, namespaced, `subjects[${index}]`),
      ),
    ],
    validateUpdate: (next, live) =>
      equalJson(next['roleRef'], live['roleRef'])
        ? []
        : [invalidValue('roleRef', internalRef(objectAt(next, 'roleRef')), 'cannot change roleRef')],
    cells: bindingCells,
  });
}

/** A reference as the server's own type prints, which has no JSON names. */
function internalRef(role: JsonObject): JsonObject {
  return { APIGroup: textAt(role, 'apiGroup'), Kind: textAt(role, 'kind'), Name: textAt(role, 'name') };
}

function roleRefErrors(role: JsonObject, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (textAt(role, 'apiGroup') !== GROUP)
    errors.push(notSupported('roleRef.apiGroup', textAt(role, 'apiGroup'), [GROUP]));
  if (!kinds.includes(textAt(role, 'kind'))) errors.push(notSupported('roleRef.kind', textAt(role, 'kind'), kinds));
  if (textAt(role, 'name') === '') errors.push(required('roleRef.name'));
  return errors;
}

function subjectErrors(subject: JsonObject, namespaced: boolean, field: string): FieldError[] {
  const [kind, name, group] = [textAt(subject, 'kind'), textAt(subject, 'name'), textAt(subject, 'apiGroup')];
  const errors: FieldError[] = name === '' ? [required(`${field}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...dnsSubdomain(name).map((text) => invalidValue(`${field}.name`, name, text)));
    if (group !== '') errors.push(notSupported(`${field}.apiGroup`, group, ['']));
    if (!namespaced && textAt(subject, 'namespace') === '') errors.push(required(`${field}.namespace`));
    return errors;
  }
  if (kind !== 'User' && kind !== 'Group')
    return [...errors, notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  return group === GROUP ? errors : [...errors, notSupported(`${field}.apiGroup`, group, [GROUP])];
}

function bindingCells(object: JsonObject, nowMs: number): Json[] {
  const named = (kind: string): string =>
    objectsAt(object, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) =>
        kind === 'ServiceAccount'
          ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
          : textAt(subject, 'name'),
      )
      .join(', ');
  const role = `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`;
  return [
    textAt(object, 'metadata', 'name'),
    role,
    ageOf(object, nowMs),
    named('User'),
    named('Group'),
    named('ServiceAccount'),
  ];
}
