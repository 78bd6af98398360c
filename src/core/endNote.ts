import type { NewTraceEvent, Via } from './traceEvent.ts';

/**
 * The note that ends a trace: until when was looked (`at`, milliseconds since the epoch). A quiet end tells something too, what
 * was not done until then, and whoever opens the trace must know of it.
 */
export function endNote(at: number, cluster: string, via: Via): NewTraceEvent & { type: 'note' } {
  return { type: 'note', at, via, cluster, text: 'The recording ended.', mark: 'recording-ended' };
}
