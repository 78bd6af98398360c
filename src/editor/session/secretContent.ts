import { isSecretResource } from '../../core/secrets.ts';
import type { NewTraceEvent } from '../../core/traceEvent.ts';

/**
 * An event from a log that hides Secrets' values under another key than ours, without those hashes: beside ours, equal
 * values would look different. Everything but Secrets stays as it is.
 */
export function withoutSecretContent(event: NewTraceEvent): NewTraceEvent {
  if (!('name' in event) || event.name === undefined || !isSecretResource(event.name)) return event;
  if (event.type === 'observed') {
    const { body: _body, leaves: _leaves, ...rest } = event;
    return rest;
  }
  if (event.type === 'note') return event;
  const { body: _body, ...rest } = event;
  return rest;
}
