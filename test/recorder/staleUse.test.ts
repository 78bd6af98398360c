import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { NewTraceEvent } from '../../src/core/traceEvent.ts';
import { discover } from '../../src/kube/discovery.ts';
import { watchResource } from '../../src/kube/watch.ts';
import { until } from '../kube/fakeClock.ts';
import { at, RealServer, serverKinds, textAt } from '../write/realServer.ts';

for (const on of serverKinds)
  describe(`a Pod whose ConfigMap is created again, watched on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;
    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

    it('is told as information by what the watches show, and not once its container started again', async () => {
      const settings = real.configMap('settings');
      const pods = ['stays', 'restarts'].map((name) => real.target('', 'v1', 'pods', 'Pod', name));
      const first = await real.create(settings, { data: { mode: 'a' } });
      const envFrom: Json = [{ configMapRef: { name: 'settings' } }];
      for (const pod of pods) {
        const spec = { automountServiceAccountToken: false, containers: [{ name: 'app', image: 'i', envFrom }] };
        await real.create(pod, { spec });
      }
      // What a kubelet reports.
      const runs = async (pod: (typeof pods)[number], since: number): Promise<void> => {
        const startedAt = seconds(since);
        const app = {
          name: 'app',
          image: 'i',
          imageID: '',
          ready: true,
          restartCount: 0,
          state: { running: { startedAt } },
        };
        await real.patch(
          pod,
          { status: { phase: 'Running', startTime: startedAt, containerStatuses: [app] } },
          'kubelet',
          'status',
        );
      };
      const created = Date.parse(textAt(first, 'metadata', 'creationTimestamp'));
      for (const pod of pods) await runs(pod, created);
      const stop = new AbortController();
      const events: NewTraceEvent[] = [];
      const seen = (text: string): boolean => JSON.stringify(events).includes(text);
      const discovery = await discover(real.cluster, stop.signal);
      const watches = ['configmaps', 'pods'].map((name) =>
        watchResource(
          real.cluster,
          { resource: discovery.find(name), namespace: real.namespace, bodies: 'whole' },
          { events: (more) => events.push(...more), state: () => undefined },
          { secretKey: 'k', keepBodies: true },
          stop.signal,
        ),
      );
      await until(() => seen('"startedAt"') && seen('"mode":"a"'), 'what is there');
      // Creations are told apart by the second.
      await systemClock.delay(created + 1_000 - Date.now());
      await real.delete(settings);
      const second = await real.create(settings, { data: { mode: 'b' } });
      await runs(pods[1] ?? settings, Date.parse(textAt(second, 'metadata', 'creationTimestamp')) + 1_000);
      await until(
        () => seen('"mode":"b"') && events.filter(({ type }) => type === 'observed').length >= 5,
        'the changes',
      );
      stop.abort();
      await Promise.allSettled(watches);
      const detector = createDetector();
      for (const [index, event] of events.entries()) detector.add({ ...event, seq: index + 1 });
      detector.end();
      const told = detector.findings().map(({ id, severity, sureness, object, details }) => ({
        id,
        severity,
        sureness,
        name: object.name,
        details,
      }));
      const uid = (object: JsonObject): Json | undefined => at(object, 'metadata', 'uid');
      assert.deepEqual(told, [
        {
          id: 'recreated',
          severity: 'info',
          sureness: 'certain',
          name: 'settings',
          details: { before: uid(first), after: uid(second) },
        },
        {
          id: 'stale-use',
          severity: 'info',
          sureness: 'certain',
          name: 'stays',
          details: { took: uid(first), live: uid(second), name: 'settings', how: 'environment' },
        },
      ]);
    });
  });
