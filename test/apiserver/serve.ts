import { parseArgs } from 'node:util';

import { startApiServer } from './apiServer.ts';

/** `npm run apiserver -- --kubeconfig FILE`: serves a real API server until interrupted. */
const { values } = parseArgs({ options: { kubeconfig: { type: 'string' }, help: { type: 'boolean' } } });

if (values.help === true || values.kubeconfig === undefined) {
  process.stdout.write(
    'usage: npm run apiserver -- --kubeconfig FILE\n\nStarts a real kube-apiserver with an empty store and serves until interrupted.\n',
  );
  process.exitCode = values.help === true ? 0 : 2;
} else {
  process.stderr.write('apiserver: starting\n');
  const server = await startApiServer();
  const path = await server.kubeconfig(values.kubeconfig);
  process.stdout.write(`${JSON.stringify({ url: server.url, kubeconfig: path })}\n`);
  process.stderr.write(
    `apiserver: ready at ${server.url}; try kubectl --kubeconfig ${path} get ns. Ctrl+C stops it.\n`,
  );
  const keepAlive = setInterval(() => undefined, 60_000);
  let isStopping = false;
  // A signal may come twice, from the terminal and from what started this; the second must not cut short the first.
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    clearInterval(keepAlive);
    process.stderr.write('apiserver: stopping\n');
    server.stop().catch((error: unknown) => {
      process.stderr.write(`apiserver: ${String(error)}\n`);
      process.exitCode = 1;
    });
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}
