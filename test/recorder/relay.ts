import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A line to a server that can be broken: what is sent arrives, what is answered does not. */
export interface Relay {
  readonly port: number;
  /** A GET of it breaks the line: answers are lost from now on, and `BROKEN_MS` later all connections end. */
  readonly control: string;
  stop(): Promise<void>;
}

const BROKEN_MS = 600;

/** Relays TCP to a port of this machine. */
export async function startRelay(port: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let broken = false;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const relay = createServer((client) => {
    const server = track(connect(port, '127.0.0.1'));
    track(client).pipe(server);
    server.on('data', (chunk) => {
      if (!broken) client.write(chunk);
    });
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
  });
  const control = createHttpServer((_request, response) => {
    broken = true;
    response.end();
    setTimeout(() => {
      broken = false;
      for (const socket of sockets) socket.destroy();
    }, BROKEN_MS);
  });
  return {
    port: await listening(relay),
    control: `http://127.0.0.1:${await listening(control)}/`,
    stop: async () => {
      const closed = Promise.all([once(relay, 'close'), once(control, 'close')]);
      relay.close();
      control.close();
      control.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
