import type { Controllers } from './controllers.ts';
import { deleteObject } from './deletion.ts';
import { BACKGROUND, controllerCall, tolerate } from './internalCalls.ts';
import { metaString, type ApiState } from './state.ts';
import { WorkQueue } from './workQueue.ts';

/** The longest that a stopping Pod is shown: nothing runs in it that would need its grace period. */
const MAX_STOP_MS = 2000;

/** Stands in for the nodes that this server does not have: a terminating Pod goes when its grace period is over, or sooner. */
export function startPodReaper(state: ApiState): Controllers {
  const queue = new WorkQueue((key) => reap(state, key));
  const subscription = state.store.subscribe('/pods', ({ key, after }) => {
    if (after === undefined || metaString(after.object, 'deletionTimestamp') === '') return;
    const due = Date.parse(metaString(after.object, 'deletionTimestamp')) - state.clock.now();
    queue.addAfter(key, Math.max(0, Math.min(due, MAX_STOP_MS)));
  });
  return {
    stop() {
      subscription.dispose();
      queue.stop();
    },
  };
}

function reap(state: ApiState, key: string): void {
  const kind = state.registry.find('', 'v1', 'pods');
  const stored = state.store.get('/pods', key);
  if (kind === undefined || stored === undefined || metaString(stored.object, 'deletionTimestamp') === '') return;
  tolerate(() =>
    deleteObject(state, controllerCall(kind, stored), {
      ...BACKGROUND,
      gracePeriodSeconds: 0,
      uid: metaString(stored.object, 'uid'),
    }),
  );
}
