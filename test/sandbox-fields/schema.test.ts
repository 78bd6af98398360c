import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dataVersion } from '../../src/sandbox/data/data.ts';
import { canonicalTime } from '../../src/sandbox/schema/goTime.ts';
import { emptyOf, normalize } from '../../src/sandbox/schema/normalize.ts';
import { openApiDocument, openApiPaths } from '../../src/sandbox/schema/openApi.ts';
import { formatQuantity, parseQuantity } from '../../src/sandbox/schema/quantity.ts';
import { builtInKinds } from '../../src/sandbox/kinds/builtIn.ts';
import { humanDuration } from '../../src/sandbox/kinds/cells.ts';
import { kindOf } from './builders.ts';

function canonical(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : formatQuantity(quantity);
}

describe('quantities', () => {
  it('are printed in canonical form', () => {
    const forms: Record<string, string> = {
      '0.5': '500m',
      '1024Mi': '1Gi',
      '1500m': '1500m',
      '1000m': '1',
      '1.5Gi': '1536Mi',
      '1e3': '1e3',
      '0': '0',
      '1000': '1k',
      '100000u': '100m',
    };
    for (const [text, form] of Object.entries(forms)) assert.equal(canonical(text), form, text);
    for (const bad of ['', 'x', '1 Gi', '1.2.3', 'Ki']) assert.equal(canonical(bad), undefined, bad);
  });

  it('canonical forms are stable', () => {
    const quantity = fc
      .tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'Gi', 'e3'))
      .map(([digits, suffix]) => `${digits}${suffix}`);
    fc.assert(
      fc.property(quantity, (text) => {
        const once = canonical(text) ?? '';
        assert.equal(canonical(once), once);
        assert.equal(parseQuantity(once)?.nanos, parseQuantity(text)?.nanos);
      }),
    );
  });
});

describe('times', () => {
  it('lose their fraction, or have exactly six decimals where they are micro times', () => {
    assert.deepEqual(canonicalTime('2026-01-01T01:00:00.9+01:00', false), { text: '2026-01-01T00:00:00Z' });
    assert.deepEqual(canonicalTime('2026-01-01T00:00:00.123456Z', true), { text: '2026-01-01T00:00:00.123456Z' });
    assert.ok('problem' in canonicalTime('2026-01-01T00:00:00Z', true));
  });
});

describe('the normal form of built-in objects', () => {
  it('value structs are always there, empty optional fields never', () => {
    assert.deepEqual(emptyOf(kindOf('Service').schema), { metadata: {}, spec: {}, status: { loadBalancer: {} } });
    assert.deepEqual(
      normalize(kindOf('ConfigMap').schema, { metadata: { labels: {} }, data: {}, immutable: null, bogus: 1 }),
      { metadata: {} },
    );
  });

  it('is stable for every kind', () => {
    for (const kind of builtInKinds()) {
      const empty = emptyOf(kind.schema);
      kind.applyDefaults(empty);
      const once = normalize(kind.schema, empty);
      assert.deepEqual(normalize(kind.schema, once), once, kind.kind);
    }
  });
});

describe('recorded data', () => {
  it('names the version it comes from', () => {
    assert.match(dataVersion(), /^v1\.\d+\.\d+$/);
  });

  it('every kind prints as many cells as it has columns', () => {
    for (const kind of builtInKinds())
      assert.equal(kind.tableCells({ metadata: { name: 'x' } }, 0).length, kind.tableColumns.length, kind.kind);
  });

  it('every document of the OpenAPI holds all schemas that it refers to', () => {
    for (const path of openApiPaths()) {
      const document = openApiDocument(path);
      const schemas = (document as unknown as { components: { schemas: object } }).components.schemas;
      for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
        assert.ok(name !== undefined && name in schemas, `${path} ${name ?? ''}`);
    }
  });

  it('ages are shown in at most two units', () => {
    const ages = [
      [5, '5s'],
      [119, '119s'],
      [120, '2m'],
      [330, '5m30s'],
      [3600, '60m'],
      [3 * 3600, '3h'],
      [3 * 3600 + 120, '3h2m'],
      [50 * 3600, '2d2h'],
      [30 * 86_400, '30d'],
    ] as const;
    for (const [seconds, text] of ages) assert.equal(humanDuration(seconds * 1000), text);
  });
});
