import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import { strategies } from '../../src/write/outcome.ts';
import { contend, makeCounter } from './contend.ts';
import { RealServer, serverKinds } from './realServer.ts';

for (const on of serverKinds) {
  describe(`many writers at once on the ${on}`, function () {
    this.timeout(120_000);
    const [writers, updates] = [16, 4];
    let real: RealServer;

    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    for (const strategy of strategies) {
      it(`${strategy}: every accepted update is in the sum`, async () => {
        const name = `counter-${strategy}`;
        await makeCounter(real.cluster, real.namespace, name);
        const schema = await real.schema(real.configMap(name));
        const spec = { namespace: real.namespace, name, writers, updates, strategy, clock: systemClock, schema };
        const { accepted, counter } = await contend(real.cluster, spec);
        assert.deepEqual([accepted, counter], [writers * updates, writers * updates]);
      });
    }
  });
}
