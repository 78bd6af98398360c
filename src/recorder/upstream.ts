import { request as httpRequest, type ClientRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { Credentials, type Connection } from '../kube/credentials.ts';
import { resolveContext, type Kubeconfig } from '../kube/kubeconfig.ts';

/** The API server behind the recorder, reached with the user's own credentials. */
export interface Upstream extends Disposable {
  /** What is put before every path: a server address may have a path of its own. */
  readonly basePath: string;
  readonly host: string;
  connection(signal: AbortSignal): Promise<Connection>;
  /** Forgets credentials that were refused, so that the next request asks for new ones. */
  forget(): void;
  /** Opens a request; its headers are sent as they stand. */
  open(method: string, path: string, headers: readonly string[], connection: Connection): ClientRequest;
}

/** The largest head of a request or an answer, in bytes: as much as an API server takes. */
export const MAX_HEADER_BYTES = 1024 * 1024;

/**
 * The upstream of a context of the kubeconfig. Nothing is sent or read before the first request.
 * @throws AppError `kubeconfig-unknown-name`
 */
export function makeUpstream(
  kubeconfig: Kubeconfig,
  options: { context?: string; env: Readonly<Record<string, string | undefined>>; clock: Clock },
): Upstream {
  const resolved = resolveContext(kubeconfig, options.context);
  const credentials = new Credentials(resolved, { env: options.env, clock: options.clock });
  const address = new URL(resolved.cluster.server);
  const make = address.protocol === 'http:' ? httpRequest : httpsRequest;
  return {
    basePath: address.pathname.replace(/\/$/, ''),
    host: address.host,
    connection: (signal) => credentials.connection(signal),
    forget: () => credentials.forget(),
    open: (method, path, headers, connection) =>
      make({
        method,
        path,
        host: address.hostname.replace(/^\[|\]$/g, ''),
        port: address.port === '' ? undefined : Number(address.port),
        headers: [...headers],
        agent: connection.agent,
        maxHeaderSize: MAX_HEADER_BYTES,
        setDefaultHeaders: false,
      }),
    dispose: () => credentials.dispose(),
  };
}
