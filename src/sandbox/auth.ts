import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { goQuote } from './goText.ts';
import type { RequestInfo } from './requestInfo.ts';
import { forbidden, unauthorized, type StatusError } from './status.ts';

/** Who a request comes from. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** The user of a request without a token. */
export const anonymous: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'] };

/** Random bearer tokens and the users they stand for. Tokens are kept as hashes, compared in constant time. */
export class Authenticator {
  private readonly users: { readonly hash: Buffer; readonly user: User }[] = [];

  /** Makes a user with a new token; groups get `system:authenticated` added. */
  add(name: string, groups: readonly string[]): string {
    const token = randomBytes(24).toString('base64url');
    const user: User = { name, uid: `${name}-uid`, groups: [...groups, 'system:authenticated'] };
    this.users.push({ hash: sha256(token), user });
    return token;
  }

  private readonly known = new WeakMap<object, { readonly authorization: string; readonly user: User }>();

  /**
   * The user of an Authorization header. Throws 401 for a token that is not known. A connection that sends the header it
   * was let in by is let in again without hashing.
   */
  authenticate(authorization: string | undefined, connection: object): User {
    if (authorization === undefined || authorization === '') return anonymous;
    const known = this.known.get(connection);
    if (known?.authorization === authorization) return known.user;
    const user = this.lookUp(authorization);
    this.known.set(connection, { authorization, user });
    return user;
  }

  private lookUp(authorization: string): User {
    const [scheme = '', token = ''] = authorization.trim().split(/\s+/);
    if (scheme.toLowerCase() !== 'bearer' || token === '') return anonymous;
    const hash = sha256(token);
    let found: User | undefined;
    for (const entry of this.users) if (timingSafeEqual(entry.hash, hash)) found = entry.user;
    if (found === undefined) throw unauthorized();
    return found;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const PUBLIC_PATHS = /^\/(version\/?|healthz|livez|readyz)$/;
const DISCOVERY = /^\/(api|apis|openapi)(\/.*)?$/;

/** Resources that every authenticated user may create to learn about himself. */
const SELF_REVIEWS: Readonly<Record<string, string>> = {
  selfsubjectaccessreviews: 'authorization.k8s.io',
  selfsubjectrulesreviews: 'authorization.k8s.io',
  selfsubjectreviews: 'authentication.k8s.io',
};

/** Whether a user is in the group that may do everything. */
export function isAdmin(user: User): boolean {
  return user.groups.includes('system:masters');
}

const grantedBy = (role: string): string =>
  `RBAC: allowed by ClusterRoleBinding "${role}" of ClusterRole "${role}" to Group "system:authenticated"`;

/** Why a user may do something, as reviews say it: '' for the group that may do everything; undefined where he may not. */
export function whyAllowed(user: User, asked: Parameters<typeof isAllowed>[1]): string | undefined {
  if (!isAllowed(user, asked)) return undefined;
  if (isAdmin(user)) return '';
  if (!('path' in asked)) return grantedBy('system:basic-user');
  return grantedBy(PUBLIC_PATHS.test(asked.path) ? 'system:public-info-viewer' : 'system:discovery');
}

/** What the default roles allow: all to `system:masters`, discovery and self reviews to users, health and version to all. */
export function isAllowed(
  user: User,
  asked: { verb: string; group: string; resource: string } | { verb: string; path: string },
): boolean {
  if (isAdmin(user)) return true;
  const authenticated = user.groups.includes('system:authenticated');
  if ('path' in asked) {
    if (asked.verb !== 'get') return false;
    return PUBLIC_PATHS.test(asked.path) || (authenticated && DISCOVERY.test(asked.path));
  }
  return authenticated && asked.verb === 'create' && SELF_REVIEWS[asked.resource] === asked.group;
}

/** Throws 403 where the user may not do what the request asks. */
export function authorize(user: User, info: RequestInfo): void {
  if (!info.isResource) {
    const verb = info.verb;
    if (!isAllowed(user, { verb, path: info.path })) {
      throw forbidden(
        { group: '', resource: '' },
        '',
        `User ${goQuote(user.name)} cannot ${verb} path ${goQuote(info.path)}`,
      );
    }
    return;
  }
  const { verb, group, resource } = info;
  if (!isAllowed(user, { verb, group, resource })) throw refusal(user, info);
}

function refusal(user: User, info: RequestInfo): StatusError {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  const scope = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(info.namespace)}`;
  const what = `cannot ${info.verb} resource ${goQuote(resource)} in API group ${goQuote(info.group)} ${scope}`;
  return forbidden({ group: info.group, resource: info.resource }, info.name, `User ${goQuote(user.name)} ${what}`);
}
