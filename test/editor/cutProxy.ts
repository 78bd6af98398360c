import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy in front of the API server, which a test can cut and heal. */
export interface CutProxy {
  readonly port: number;
  /** Breaks all connections and refuses new ones. */
  cut(): void;
  heal(): void;
  /** Lets nothing through to the server, and breaks nothing; `held` tells how many bytes wait. */
  hold(): void;
  release(): void;
  readonly held: number;
  stop(): Promise<void>;
}

export async function startCutProxy(host: string, port: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let waiting: { readonly to: Socket; readonly bytes: Buffer }[] | undefined;
  const server = createServer((incoming) => {
    if (isCut) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(port, host);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
      socket.on('error', () => socket.destroy());
    }
    incoming.on('data', (bytes: Buffer) => {
      if (waiting === undefined) outgoing.write(bytes);
      else waiting.push({ to: outgoing, bytes });
    });
    incoming.on('end', () => outgoing.end());
    outgoing.pipe(incoming);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      breakAll();
    },
    heal() {
      isCut = false;
    },
    hold() {
      waiting ??= [];
    },
    release() {
      for (const { to, bytes } of waiting ?? []) if (!to.destroyed) to.write(bytes);
      waiting = undefined;
    },
    get held() {
      return (waiting ?? []).reduce((sum, { bytes }) => sum + bytes.length, 0);
    },
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        breakAll();
      }),
  };
}
