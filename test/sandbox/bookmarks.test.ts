import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { mock } from 'node:test';

import { Heartbeats } from '../../src/sandbox/heartbeats.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { at, Caller, CONFIG_MAPS, configMap, type Stream } from './apiCalls.ts';

const MINUTE = 60_000;

describe('sandbox: bookmarks of a quiet watch', () => {
  let sandbox: Sandbox;
  let caller: Caller;
  beforeEach(async () => {
    sandbox = await startSandbox();
    caller = new Caller(sandbox);
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
  });
  afterEach(async () => {
    mock.timers.reset();
    caller.close();
    await sandbox.stop();
  });

  const has = async (stream: Stream, lines: number): Promise<void> => {
    for (let turns = 0; stream.lines.length < lines && turns < 100_000; turns += 1) await turn();
    assert.equal(stream.lines.length, lines);
  };
  const types = ({ lines }: Stream): unknown[] => lines.map((line) => at(line, 'type'));

  it('one comes every minute though nothing happens, and only to who asked for them', async () => {
    const version = at((await caller.send('GET', CONFIG_MAPS)).body, 'metadata.resourceVersion');
    const path = `${CONFIG_MAPS}?watch=true&resourceVersion=${String(version)}`;
    const asked = await caller.stream(`${path}&allowWatchBookmarks=true`);
    const other = await caller.stream(path);
    for (let minute = 1; minute <= 3; minute += 1) {
      mock.timers.tick(MINUTE);
      await has(asked, minute);
    }
    assert.deepEqual(types(asked), ['BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
    assert.equal(at(asked.lines[2], 'object.metadata.resourceVersion'), version);
    await caller.send('POST', CONFIG_MAPS, configMap('a'));
    await has(other, 1);
    assert.deepEqual(types(other), ['ADDED']);
  });

  it('the last two seconds bring one more only where the server has moved on', async () => {
    const version = at((await caller.send('GET', CONFIG_MAPS)).body, 'metadata.resourceVersion');
    const path = `${CONFIG_MAPS}?watch=true&resourceVersion=${String(version)}&allowWatchBookmarks=true`;
    const quiet = await caller.stream(`${path}&timeoutSeconds=30`);
    mock.timers.tick(MINUTE);
    for (let turns = 0; quiet.ended === undefined && turns < 100_000; turns += 1) await turn();
    assert.deepEqual([quiet.ended, quiet.lines], ['cleanly', []]);
  });
});

describe('sandbox: heartbeats', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => mock.timers.reset());

  it('one timer serves all that are due within a second, and none runs when nobody asks', () => {
    const timers = mock.method(globalThis, 'setTimeout');
    const clock = { now: () => Date.now(), random: () => 0, delay: () => Promise.resolve() };
    const beats = new Heartbeats(clock);
    const heard: string[] = [];
    const first = beats.add(() => heard.push('first'));
    mock.timers.tick(500);
    const second = beats.add(() => heard.push('second'));
    mock.timers.tick(MINUTE - 500);
    assert.deepEqual([heard, timers.mock.callCount()], [['first', 'second'], 2]);
    first.dispose();
    mock.timers.tick(MINUTE);
    assert.deepEqual(heard, ['first', 'second', 'second']);
    second.dispose();
    mock.timers.tick(MINUTE);
    assert.deepEqual([heard.length, timers.mock.callCount()], [3, 3]);
    timers.mock.restore();
  });
});
