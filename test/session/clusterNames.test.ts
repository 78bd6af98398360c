import assert from 'node:assert/strict';
import { ClusterNames, type ClusterLabels } from '../../src/editor/session/clusterNames.ts';

/** What a workspace keeps from window to window. */
class Kept {
  value: ClusterLabels | undefined;
  readonly failures: unknown[] = [];

  window(save = (value: ClusterLabels): Promise<void> => Promise.resolve(void (this.value = value))): ClusterNames {
    return new ClusterNames((error) => this.failures.push(error), { load: () => this.value, save });
  }
}

describe('names of clusters', () => {
  it('are known in the next window, where nothing is connected yet', () => {
    const kept = new Kept();
    kept.window().name('id-1', 'kind-a', 'https://127.0.0.1:1');
    assert.deepEqual(kept.window().all(), { 'id-1': { label: 'kind-a', server: 'https://127.0.0.1:1' } });
  });

  it('are the last ones that were said, and of no more clusters than are kept', () => {
    const kept = new Kept();
    const names = kept.window();
    for (let index = 0; index < 300; index += 1) names.name(`id-${index}`, `label ${index}`);
    names.name('id-299', 'renamed');
    assert.equal(Object.keys(names.all()).length, 200);
    assert.deepEqual(kept.window().all()['id-299'], { label: 'renamed' });
    assert.equal(names.all()['id-0'], undefined);
  });

  it('hold in this window where they cannot be kept, and the failure is told', async () => {
    const kept = new Kept();
    const names = kept.window(() => Promise.reject(new Error('full')));
    names.name('id-1', 'kind-a');
    await Promise.resolve();
    assert.deepEqual(names.all(), { 'id-1': { label: 'kind-a' } });
    assert.match(String(kept.failures[0]), /full/);
  });
});
