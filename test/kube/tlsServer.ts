import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { CertificateAuthority } from '../../src/base/certificateAuthority.ts';

/** A TLS server of a test's own. */
export interface TlsServer {
  readonly url: string;
  connections(): number;
  stop(): Promise<void>;
}

/** Starts one with a certificate of the authority; it asks clients for a certificate and leaves it to the handler. */
export async function startTlsServer(
  authority: CertificateAuthority,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  addresses: readonly string[] = ['127.0.0.1'],
): Promise<TlsServer> {
  const { certificatePem: cert, keyPem: key } = await authority.issue('server', addresses);
  const server = createServer(
    { cert, key, ca: authority.caPem, requestCert: true, rejectUnauthorized: false },
    handler,
  );
  let connections = 0;
  server.on('secureConnection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
