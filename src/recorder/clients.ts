import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The named clients of one recorder, each with a random token that only opens the recorder. */
export class Clients {
  /** What each connection last presented, and whose it was. */
  readonly presented = new WeakMap<object, { readonly authorization: string; readonly client: string }>();
  private readonly tokens = new Map<string, { readonly token: string; readonly hash: Buffer }>();

  /** The token of a client; the same name has the same token. 256 random bits. */
  tokenOf(name: string): string {
    const known = this.tokens.get(name);
    if (known !== undefined) return known.token;
    const token = randomBytes(32).toString('base64url');
    this.tokens.set(name, { token, hash: hashOf(token) });
    return token;
  }

  /** The client whose token this is. Every token is compared, each in constant time, whatever is presented. */
  find(presented: string | undefined): string | undefined {
    const hash = hashOf(presented ?? '');
    let found: string | undefined;
    for (const [name, client] of this.tokens) if (timingSafeEqual(client.hash, hash)) found = name;
    return presented === undefined ? undefined : found;
  }

  get names(): string[] {
    return [...this.tokens.keys()];
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const WEBSOCKET_BEARER = 'base64url.bearer.authorization.k8s.io.';

/** The bearer token of a request: from its Authorization header or, as browsers do, from a WebSocket protocol's name. */
export function presentedToken(headers: {
  readonly authorization?: string | undefined;
  readonly protocols?: string | undefined;
}): string | undefined {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer.trim();
  const protocol = headers.protocols
    ?.split(',')
    .map((item) => item.trim())
    .find((item) => item.startsWith(WEBSOCKET_BEARER));
  return protocol === undefined
    ? undefined
    : Buffer.from(protocol.slice(WEBSOCKET_BEARER.length), 'base64url').toString('utf8');
}

/**
 * The client of a request, by its token; undefined where it is nobody's. A connection that presents again, letter for letter,
 * what was found good on it before is not looked up anew: whoever sends on it knows that token already.
 */
export function authenticated(clients: Clients, request: IncomingMessage): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
  const before = clients.presented.get(request.socket);
  if (before !== undefined && before.authorization === authorization) return before.client;
  const client = clients.find(presentedToken({ authorization, protocols }));
  if (client !== undefined && authorization !== undefined)
    clients.presented.set(request.socket, { authorization, client });
  return client;
}

/** The WebSocket protocols without the one that carries a token. */
export function withoutBearerProtocol(protocols: string): string {
  return protocols
    .split(',')
    .map((item) => item.trim())
    .filter((item) => !item.startsWith(WEBSOCKET_BEARER))
    .join(', ');
}

/** A kubeconfig (JSON is YAML) that points a client at the recorder. It holds no credential but the client's own token. */
export function clientKubeconfig(client: {
  name: string;
  token: string;
  url: string;
  caPem: string;
  namespace: string;
}): string {
  const context = { cluster: 'object-versions-recorder', user: client.name, namespace: client.namespace };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'object-versions-recorder',
    clusters: [
      {
        name: 'object-versions-recorder',
        cluster: { server: client.url, 'certificate-authority-data': Buffer.from(client.caPem).toString('base64') },
      },
    ],
    users: [{ name: client.name, user: { token: client.token } }],
    contexts: [{ name: 'object-versions-recorder', context }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
