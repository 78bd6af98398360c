import assert from 'node:assert/strict';
import { connect } from 'node:tls';

import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { Caller, CONFIG_MAPS, configMap, eventually } from './apiCalls.ts';

describe('sandbox: the bytes of a watch', () => {
  let sandbox: Sandbox;
  let caller: Caller;

  before(async () => {
    sandbox = await startSandbox();
    caller = new Caller(sandbox);
    await caller.send('POST', CONFIG_MAPS, configMap('first', 'größer als ASCII: 日本'));
  });
  after(async () => {
    caller.close();
    await sandbox.stop();
  });

  /** All that a watch sends until the server ends it, after the change of one object. */
  async function received(protocol: 'HTTP/1.0' | 'HTTP/1.1', value: string): Promise<{ head: string; body: Buffer }> {
    const port = Number(new URL(sandbox.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: sandbox.caPem });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const ended = new Promise<void>((resolve, reject) => socket.on('end', resolve).on('error', reject));
    socket.write(
      `GET ${CONFIG_MAPS}?watch=true ${protocol}\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${sandbox.token}\r\n\r\n`,
    );
    await eventually('the first event is there', () => Buffer.concat(chunks).includes('first'));
    await caller.send('PUT', `${CONFIG_MAPS}/first`, configMap('first', value));
    await eventually('the second event is there', () => Buffer.concat(chunks).includes('MODIFIED'));
    sandbox.expireWatches();
    await ended;
    const all = Buffer.concat(chunks);
    const split = all.indexOf('\r\n\r\n') + 4;
    return { head: all.subarray(0, split).toString('latin1').toLowerCase(), body: all.subarray(split) };
  }

  const types = (text: string): unknown[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);

  it('each event is a chunk of its length in bytes, and an empty chunk ends the stream', async () => {
    const { head, body } = await received('HTTP/1.1', 'äöü');
    assert.match(head, /^http\/1\.1 200 ok\r\n/);
    assert.match(head, /\r\ntransfer-encoding: chunked\r\n/);
    const lines: string[] = [];
    let at = 0;
    for (;;) {
      const end = body.indexOf('\r\n', at);
      const size = Number.parseInt(body.subarray(at, end).toString('latin1'), 16);
      const chunk = body.subarray(end + 2, end + 2 + size);
      at = end + 2 + size + 2;
      assert.equal(body.subarray(at - 2, at).toString('latin1'), '\r\n');
      if (size === 0) break;
      lines.push(chunk.toString('utf8'));
    }
    assert.equal(at, body.length);
    assert.ok(lines.every((line) => line.endsWith('\n')));
    assert.deepEqual(lines.map(types).flat(), ['ADDED', 'MODIFIED', 'ERROR']);
    assert.match(lines[1] ?? '', /äöü/);
  });

  it('a client of HTTP/1.0, which knows no chunks, reads plain lines', async () => {
    const { head, body } = await received('HTTP/1.0', 'ß');
    assert.doesNotMatch(head, /transfer-encoding/);
    assert.deepEqual(types(body.toString('utf8')), ['ADDED', 'MODIFIED', 'ERROR']);
  });

  it('a watch asked for behind another answer of its connection begins when that one is sent', async () => {
    const port = Number(new URL(sandbox.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: sandbox.caPem });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const request = (path: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${sandbox.token}\r\n\r\n`;
    sandbox.faults.add({ kind: 'latency', ms: 200, times: 1, match: { verb: 'list' } });
    socket.write(request(CONFIG_MAPS) + request(`${CONFIG_MAPS}?watch=true`));
    await eventually('both have answered', () => text.includes('"ADDED"'));
    assert.ok(text.indexOf('ConfigMapList') < text.indexOf('"ADDED"'));
    await caller.send('PUT', `${CONFIG_MAPS}/first`, configMap('first', 'last'));
    await eventually('the change comes', () => text.includes('"MODIFIED"'));
    socket.destroy();
  });
});
