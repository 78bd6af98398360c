import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventLog } from '../../../src/core/eventLog.ts';
import { TimelineProjection } from '../../../src/core/timeline/project.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import { TraceReader } from '../../../src/core/trace.ts';
import { readTraceFile } from '../../../src/storage/traceFile.ts';
import { HOUR_MS, hourEvents, hourLines, HOUR_START } from '../../bench/hourFixture.ts';

const EVENTS = 40_000;

function projectionOf(log: EventLog): TimelineProjection {
  return new TimelineProjection({ clusterLabel: (id) => id, translate: english, eventAt: (seq) => log.eventAt(seq) });
}

/** What a store holds, as one text: each lane's marks with their times, and its bars. */
function contentOf(store: TimelineStore): string {
  return JSON.stringify(
    store.lanes.map((lane) => [
      lane.info.name,
      lane.info.bars,
      lane.series.map((series) =>
        series === undefined ? 0 : Array.from({ length: series.length }, (_, index) => series.timeAt(index)),
      ),
    ]),
  );
}

describe('a recorded hour', function () {
  this.timeout(20_000);

  it('is made the same each time, and lasts an hour', () => {
    const once = Array.from(hourEvents(2000));
    assert.deepEqual(Array.from(hourEvents(2000)), once);
    assert.equal(once.length, 2000);
    assert.equal(once.at(-1)?.at, HOUR_START + HOUR_MS);
    const kinds = new Set(Array.from(hourEvents(EVENTS), ({ type }) => type));
    assert.deepEqual([...kinds].sort(), ['absent', 'gap', 'observed', 'write']);
  });

  it('opens from its file through the log to the same timeline that was shown while it was recorded', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hour-'));
    try {
      const path = join(folder, 'hour.ovtrace.jsonl');
      await writeFile(path, Array.from(hourLines(EVENTS)).join(''));
      const replayed = new EventLog();
      const opened = projectionOf(replayed);
      for await (const events of readTraceFile(path, new TraceReader()))
        opened.add(replayed.replay(events), replayed.history);
      const live = new EventLog();
      const shown = projectionOf(live);
      const store = new TimelineStore(shown.model());
      let batch = [];
      for (const event of hourEvents(EVENTS)) {
        batch.push(event);
        if (batch.length < 250) continue;
        shown.add(live.replay(batch), live.history);
        assert.equal(store.apply(shown.takeDelta()).rejected, 0);
        batch = [];
      }
      const whole = new TimelineStore(opened.model());
      assert.ok(whole.marks.length > EVENTS * 0.9);
      assert.equal(contentOf(store), contentOf(whole));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
