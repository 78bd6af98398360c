import { isJsonObject, type JsonObject } from '../codec/json.ts';
import { isAdmin, isAllowed, type User } from './auth.ts';
import { timestamp } from './state.ts';
import { badRequest, invalid, required } from './status.ts';

/** A kind that is created to ask the server something and is never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  answer(user: User, body: JsonObject, context: ReviewContext): JsonObject;
}

/** When a review was asked, and by which field manager. */
export interface ReviewContext {
  readonly nowMs: number;
  readonly manager: string;
}

/** The reviews that this server answers. */
export const reviews: readonly Review[] = [
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    resource: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    answer: accessReview,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    resource: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    answer: rulesReview,
  },
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    answer: subjectReview,
  },
];

/** Checks that a body is the review's kind. Throws 400. */
export function checkReviewBody(review: Review, body: JsonObject): void {
  const kind = body['kind'];
  if (typeof kind === 'string' && kind !== '' && kind !== review.kind) {
    const version = JSON.stringify(body['apiVersion'] ?? `${review.group}/${review.version}`);
    throw badRequest(
      `${kind} in version ${version} cannot be handled as a ${review.kind}: no kind ${JSON.stringify(kind)} is registered for version ${version}`,
    );
  }
}

function spec(body: JsonObject, field: string): JsonObject | undefined {
  const value = isJsonObject(body['spec']) ? body['spec'][field] : undefined;
  return isJsonObject(value) ? value : undefined;
}

const text = (object: JsonObject, field: string): string => (typeof object[field] === 'string' ? object[field] : '');

function accessReview(user: User, body: JsonObject, context: ReviewContext): JsonObject {
  const resource = spec(body, 'resourceAttributes');
  const path = spec(body, 'nonResourceAttributes');
  if (resource === undefined && path === undefined) {
    const error = {
      ...required('spec.resourceAttributes'),
      message: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      reason: 'FieldValueInvalid' as const,
    };
    throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', [error]);
  }
  const asked =
    resource === undefined
      ? { verb: text(path ?? {}, 'verb'), path: text(path ?? {}, 'path') }
      : { verb: text(resource, 'verb'), group: text(resource, 'group'), resource: text(resource, 'resource') };
  const allowed = isAllowed(user, asked);
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: reviewMetadata(
      'spec',
      {
        ...(resource === undefined ? {} : { resourceAttributes: resource }),
        ...(path === undefined ? {} : { nonResourceAttributes: path }),
      },
      context,
    ),
    spec: {
      ...(resource === undefined ? {} : { resourceAttributes: resource }),
      ...(path === undefined ? {} : { nonResourceAttributes: path }),
    },
    status: { allowed },
  };
}

/** Reviews are tracked like any object that is created, though nothing is stored. */
function reviewMetadata(field: string, content: JsonObject, { nowMs, manager }: ReviewContext): JsonObject {
  const owned = Object.fromEntries(
    Object.entries(content).map(([name, value]) => {
      const parts = isJsonObject(value) ? Object.keys(value).sort() : [];
      return [`f:${name}`, { '.': {}, ...Object.fromEntries(parts.map((part) => [`f:${part}`, {}])) }];
    }),
  );
  const entry: JsonObject = {
    manager,
    operation: 'Update',
    apiVersion: 'authorization.k8s.io/v1',
    time: timestamp(nowMs),
    fieldsType: 'FieldsV1',
    fieldsV1: { [`f:${field}`]: owned },
  };
  return { managedFields: [entry] };
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

function rulesReview(user: User): JsonObject {
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
