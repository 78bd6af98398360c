import assert from 'node:assert/strict';
import { parsePath, type Path } from '../../src/codec/path.ts';
import { lastChanges } from '../../src/core/lastChange.ts';
import { TraceBuilder } from './traceBuilder.ts';

const pathOf = (text: string): Path => {
  const parsed = parsePath(text);
  assert.ok('path' in parsed, text);
  return parsed.path;
};

/** `field: how token` of some fields of the demo's first incarnation as of a token. */
function blame(trace: TraceBuilder, token: string, fields: readonly string[]): string[] {
  const [incarnation] = trace.at.incarnations;
  assert.ok(incarnation);
  const changes = lastChanges(incarnation, token, fields.map(pathOf));
  return changes.map(({ how, version }, index) => `${fields[index]}: ${how} ${version.token}`);
}

describe('who changed a field last', () => {
  it('is the version in which it got its value, or the creation, where that was seen', () => {
    const trace = new TraceBuilder();
    trace.added('u', 'a', { spec: { replicas: 1, image: 'x' } });
    trace.modified('u', 'b', { spec: { replicas: 2, image: 'x' } });
    trace.modified('u', 'c', { spec: { replicas: 2, image: 'x' }, status: { ready: 1 } });
    assert.deepEqual(blame(trace, 'c', ['.spec.replicas', '.spec.image', '.status.ready']), [
      '.spec.replicas: changed b',
      '.spec.image: created a',
      '.status.ready: changed c',
    ]);
    assert.deepEqual(
      blame(trace, 'a', ['.spec.replicas']),
      ['.spec.replicas: created a'],
      'of the version that is shown',
    );
    assert.deepEqual(blame(trace, 'never seen', ['.spec.replicas']), []);
  });

  it('is unknown where the object was there before anybody looked, since the first version that was seen', () => {
    const trace = new TraceBuilder();
    trace.list('u', 'a', { spec: { replicas: 1, image: 'x' } });
    trace.modified('u', 'b', { spec: { replicas: 2, image: 'x' } });
    assert.deepEqual(blame(trace, 'b', ['.spec.replicas', '.spec.image']), [
      '.spec.replicas: changed b',
      '.spec.image: unknown a',
    ]);
  });

  it('items of lists are followed by their keys, whatever their place', () => {
    const trace = new TraceBuilder();
    const container = (name: string, image: string): { name: string; image: string } => ({ name, image });
    trace.added('u', 'a', { spec: { containers: [container('web', '1'), container('log', '1')] } });
    trace.modified('u', 'b', { spec: { containers: [container('log', '1'), container('web', '2')] } });
    assert.deepEqual(blame(trace, 'b', ['.spec.containers[name="web"].image', '.spec.containers[name="log"].image']), [
      '.spec.containers[name="web"].image: changed b',
      '.spec.containers[name="log"].image: created a',
    ]);
  });

  it('without contents it is told from what is known to have changed, and is unknown where that does not tell', () => {
    const trace = new TraceBuilder();
    const seen = (token: string, spec: number, app: string, change: 'ADDED' | 'MODIFIED'): void => {
      const object = trace.object(
        'u',
        token,
        { spec: { replicas: spec } },
        { generation: spec, labels: { app, tier: 'x' } },
      );
      const {
        body: _body,
        leaves: _leaves,
        ...event
      } = trace.seen(object, { change, stream: 's1', keepBody: false }) as never as Record<string, unknown>;
      trace.events[trace.events.length - 1] = event as never;
    };
    seen('a', 1, 'one', 'ADDED');
    seen('b', 1, 'two', 'MODIFIED');
    seen('c', 2, 'two', 'MODIFIED');
    assert.deepEqual(blame(trace, 'c', ['.metadata.labels.app', '.metadata.labels.tier', '.spec.replicas']), [
      '.metadata.labels.app: changed b',
      '.metadata.labels.tier: created a',
      '.spec.replicas: unknown c',
    ]);
  });

  it('nothing is told across versions whose order no stream has placed', () => {
    const trace = new TraceBuilder();
    trace.added('u', 'a', { spec: { replicas: 1 } });
    trace.seen(trace.object('u', 'z', { spec: { replicas: 2 } }), { via: 'get' });
    assert.deepEqual(blame(trace, 'z', ['.spec.replicas']), ['.spec.replicas: unknown z']);
  });
});
