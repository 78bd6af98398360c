import { isJsonObject, type JsonObject } from '../codec/json.ts';
import { isAdmin, whyAllowed, type User } from './auth.ts';
import type { Kind } from './kinds/kind.ts';
import { structOf } from './schema/builtInTypes.ts';
import { timestamp } from './state.ts';
import { badRequest, invalid, invalidValue, type FieldError } from './status.ts';

/** A kind that is created to ask the server something and is never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  /** The OpenAPI component of its body. */
  readonly component: string;
  answer(user: User, body: JsonObject, context: ReviewContext): JsonObject;
}

/** When a review was asked. */
export interface ReviewContext {
  readonly nowMs: number;
}

/** The reviews that this server answers. */
export const reviews: readonly Review[] = [
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    resource: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    component: 'io.k8s.api.authorization.v1.SelfSubjectAccessReview',
    answer: accessReview,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    resource: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    component: 'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
    answer: rulesReview,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    component: 'io.k8s.api.authentication.v1.SelfSubjectReview',
    answer: subjectReview,
  },
];

/** The kind of a review's body, so that it is read as any other; `base` is any built-in kind. */
export function reviewKind({ group, version, kind, resource, component }: Review, base: Kind): Kind {
  const schema = structOf(component);
  return {
    ...base,
    group,
    version,
    kind,
    plural: resource,
    schema,
    applyDefaults: () => undefined,
    resetPaths: () => [],
  };
}

function spec(body: JsonObject, field: string): JsonObject | undefined {
  const value = isJsonObject(body['spec']) ? body['spec'][field] : undefined;
  return isJsonObject(value) ? value : undefined;
}

const text = (object: JsonObject, field: string): string => (typeof object[field] === 'string' ? object[field] : '');

function accessReview(user: User, body: JsonObject): JsonObject {
  const resource = spec(body, 'resourceAttributes');
  const path = spec(body, 'nonResourceAttributes');
  const errors = [...attributeErrors(resource, path), ...nameErrors(body['metadata'])];
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
  const asked =
    resource === undefined
      ? { verb: text(path ?? {}, 'verb'), path: text(path ?? {}, 'path') }
      : { verb: text(resource, 'verb'), group: text(resource, 'group'), resource: text(resource, 'resource') };
  const reason = whyAllowed(user, asked);
  return {
    ...body,
    status: { allowed: reason !== undefined, ...(reason === undefined || reason === '' ? {} : { reason }) },
  };
}

/** A review is stored nowhere, so that it has no name and no labels. */
function nameErrors(metadata: JsonObject[string] | undefined): FieldError[] {
  const named = isJsonObject(metadata) && Object.keys(metadata).some((field) => field !== 'managedFields');
  return named ? [invalidValue('metadata', metadata, 'must be empty')] : [];
}

function attributeErrors(resource: JsonObject | undefined, path: JsonObject | undefined): FieldError[] {
  if (resource !== undefined && path !== undefined) {
    const shown = { Path: text(path, 'path'), Verb: text(path, 'verb') };
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidValue('spec.nonResourceAttributes', shown, why)];
  }
  if (resource !== undefined || path !== undefined) return [];
  const message = 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [{ reason: 'FieldValueInvalid', field: 'spec.resourceAttributes', message }];
}

const EVERYONE = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const DISCOVERY = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
];

function rulesReview(user: User, body: JsonObject): JsonObject {
  if (text(isJsonObject(body['spec']) ? body['spec'] : {}, 'namespace') === '')
    throw badRequest('no namespace on request');
  const admin = isAdmin(user);
  const resourceRules: JsonObject[] = [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ...(admin ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] : []),
  ];
  const nonResourceRules: JsonObject[] = [
    { verbs: ['get'], nonResourceURLs: EVERYONE },
    { verbs: ['get'], nonResourceURLs: DISCOVERY },
    ...(admin ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : []),
  ];
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: {},
    status: { resourceRules, nonResourceRules, incomplete: false },
  };
}

function subjectReview(user: User, _body: JsonObject, { nowMs }: ReviewContext): JsonObject {
  return {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { creationTimestamp: timestamp(nowMs) },
    status: {
      userInfo: { username: user.name, ...(user.uid === '' ? {} : { uid: user.uid }), groups: [...user.groups] },
    },
  };
}
