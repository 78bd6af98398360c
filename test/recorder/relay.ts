import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { makeLoopbackCertificate } from '../../src/base/loopbackCertificate.ts';

/**
 * A way to a server on which the answer to a write can be lost, when the server has given it: what is asked of it and when it
 * happens follows from the requests alone, however slow the machine is.
 */
export interface Relay {
  /** The same kubeconfig (JSON, with a token) by way of the relay. */
  readonly kubeconfig: string;
  /**
   * A GET of `drop/TEXT` has the next write that holds TEXT in its address or body lose its answer as its connection breaks,
   * `hold/TEXT` has it wait for ever; `held` is answered when a write waits.
   */
  readonly control: string;
  stop(): Promise<void>;
}

interface Loss {
  readonly how: 'drop' | 'hold';
  readonly text: string;
}

/** Relays to the server of a kubeconfig. */
export async function startRelay(kubeconfig: string): Promise<Relay> {
  const config = JSON.parse(kubeconfig) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  };
  const [{ cluster }] = config.clusters;
  const upstream = new URL(cluster.server);
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  const own = await makeLoopbackCertificate(Date.now(), 'test relay');
  const agent = new Agent({ ca, keepAlive: true });
  let loss: Loss | undefined;
  let held = Promise.withResolvers<undefined>();

  /** Forwards a request whole, and tells whether its answer goes back. */
  const forward = (incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): void => {
    const isWrite = incoming.method !== 'GET';
    const isLost = isWrite && loss !== undefined && `${incoming.url} ${body.toString('latin1')}`.includes(loss.text);
    const how = isLost ? loss?.how : undefined;
    if (isLost) loss = undefined;
    const { method, url, headers } = incoming;
    const asked = request(
      { host: upstream.hostname, port: upstream.port, agent, path: url, headers, ...(method ? { method } : {}) },
      (answer) => {
        if (how === undefined) {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          outgoing.flushHeaders();
          answer.pipe(outgoing);
          return;
        }
        answer.resume().once('end', () => {
          if (how === 'drop') incoming.socket.destroy();
          else held.resolve(undefined);
        });
      },
    );
    asked.once('error', () => outgoing.destroy());
    // A write whose client gave up was sent all the same.
    if (!isWrite) outgoing.once('close', () => asked.destroy());
    asked.end(body);
  };

  const server = createServer({ cert: own.certificatePem, key: own.keyPem }, (incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.once('end', () => forward(incoming, Buffer.concat(parts), outgoing));
  });
  const control = createHttpServer((asked, response) => {
    const [, how, text = ''] = (asked.url ?? '').split('/');
    if (how === 'held') {
      void held.promise.then(() => response.end());
      return;
    }
    loss = { how: how === 'hold' ? 'hold' : 'drop', text };
    held = Promise.withResolvers<undefined>();
    response.end();
  });
  const port = await listening(server);
  Object.assign(cluster, {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': Buffer.from(own.caPem).toString('base64'),
  });
  return {
    kubeconfig: JSON.stringify(config),
    control: `http://127.0.0.1:${await listening(control)}`,
    stop: async () => {
      const closed = Promise.all([once(server, 'close'), once(control, 'close')]);
      for (const each of [server, control]) {
        each.close();
        each.closeAllConnections();
      }
      agent.destroy();
      await closed;
    },
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
