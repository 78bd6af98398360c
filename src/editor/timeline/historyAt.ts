import { EventLog } from '../../core/eventLog.ts';
import type { History } from '../../core/history.ts';
import { withoutSeq } from '../trace/readTrace.ts';

/**
 * What was known when an event had just come: the log's events up to it, folded anew. Undefined where the beginning of the
 * log is not in memory any more, because the state would then be made up.
 */
export function historyAt(log: EventLog, seq: number): History | undefined {
  if (log.eventAt(1) === undefined) return undefined;
  const past = new EventLog();
  const events = [];
  for (const event of log.eventsFrom(1)) {
    if (event.seq > seq) break;
    events.push(withoutSeq(event));
  }
  past.appendAll(events);
  return past.history;
}
