import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { behindRecorder, send, type Behind } from './standIn.ts';

const DISCOVERY: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [{ name: 'configmaps', namespaced: true, kind: 'ConfigMap', verbs: ['get', 'list', 'watch'] }],
  },
};
const LIST = '/api/v1/namespaces/lab/configmaps';

describe("the recorder's own watch of what its clients touch", () => {
  let behind: Behind | undefined;

  afterEach(async () => {
    await behind?.stop();
    behind = undefined;
  });

  /** A server with one ConfigMap, whose list of all is answered by `list`; tells in which order it was asked. */
  async function serve(list: (response: ServerResponse) => void): Promise<string[]> {
    const asked: string[] = [];
    behind = await behindRecorder(
      (request, response) => {
        const [path = '', query = ''] = (request.url ?? '').split('?');
        const known = DISCOVERY[path];
        response.setHeader('Content-Type', 'application/json');
        if (known !== undefined) response.end(JSON.stringify(known));
        else if (path !== LIST) {
          asked.push('get');
          response.end(
            JSON.stringify({
              kind: 'ConfigMap',
              metadata: { name: 'demo', namespace: 'lab', uid: 'U1', resourceVersion: '1' },
            }),
          );
        } else if (/watch=(true|1)/.test(query)) {
          asked.push('watch');
          response.flushHeaders();
        } else list(response);
      },
      { follow: true },
    );
    return asked;
  }

  it('begins before the first request goes on, so that what others write then is seen', async () => {
    const asked = await serve((response) => {
      setTimeout(
        () => response.end(JSON.stringify({ kind: 'ConfigMapList', metadata: { resourceVersion: '5' }, items: [] })),
        60,
      );
    });
    assert.ok(behind !== undefined);
    await Promise.all([send(behind, 'GET', `${LIST}/demo`), send(behind, 'GET', `${LIST}/demo`)]);
    await send(behind, 'GET', `${LIST}/demo`);
    assert.deepEqual(asked, ['watch', 'get', 'get', 'get']);
  });

  it('holds nothing up for long where the server does not answer it', async () => {
    const asked = await serve(() => undefined);
    assert.ok(behind !== undefined);
    const got = await Promise.race([send(behind, 'GET', `${LIST}/demo`), delay(5_000)]);
    assert.equal(got?.status, 200);
    assert.deepEqual(asked, ['get']);
  });
});
