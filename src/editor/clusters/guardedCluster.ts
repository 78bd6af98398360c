import { AppError } from '../../base/appError.ts';
import type { Server } from '../../base/server.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { withBudget, type Budget } from '../../write/budget.ts';
import { readOnly } from '../../write/protect.ts';

/** Stands for the request that waits for its turn; whoever is let through sends the real one. */
const passed = { status: 0, headers: {}, body: '' };

/**
 * A cluster that is asked no more often than a budget allows, if there is one, and that is only read while `isReadOnly` says so. Every
 * request of the extension goes through it: watches, documents, writes.
 * @throws AppError `forbidden` from `send` for anything but a GET while it is read only
 */
export function guardedCluster(cluster: Cluster, budget: Budget | undefined, isReadOnly: () => boolean): Cluster {
  const gate: Server = { send: async () => passed };
  const guard = readOnly(budget === undefined ? gate : withBudget(gate, budget), isReadOnly);
  return {
    label: cluster.label,
    context: cluster.context,
    namespace: cluster.namespace,
    url: cluster.url,
    clock: cluster.clock,
    id: (signal) => cluster.id(signal),
    caPem: () => cluster.caPem(),
    dispose: () => cluster.dispose(),
    async send(request, signal) {
      await guard.send(request, signal);
      return cluster.send(request, signal);
    },
    async sendEarly(request, signal, onBeginning) {
      await guard.send(request, signal);
      return cluster.sendEarly(request, signal, onBeginning);
    },
    async open(request, signal) {
      if (request.method !== 'GET')
        throw new AppError('internal', 'Only what is read comes as a stream.', { details: { method: request.method } });
      await guard.send(request, signal);
      return cluster.open(request, signal);
    },
  };
}
