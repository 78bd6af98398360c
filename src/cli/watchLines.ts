import { tokenBadge } from '../core/tokenBadge.ts';
import type { ObjectName, TraceEvent } from '../core/traceEvent.ts';
import type { WatchState } from '../kube/watch.ts';
import { shortUid } from './identity.ts';

/** One line for a person about one event of a watch: time, what happened, name, UID, token, generations. */
export function identityColumns(event: TraceEvent, options: { rawTokens: boolean; now: number }): string {
  const time = new Date(event.at).toISOString().slice(11, 23);
  switch (event.type) {
    case 'observed': {
      const what = event.change ?? (event.via === 'list' ? 'LISTED' : 'READ');
      const generations = `gen ${event.generation ?? '-'} observed ${event.observedGeneration ?? '-'}`;
      const ending = event.deletionTimestamp === undefined ? '' : '  terminating';
      return `${time}  ${what.padEnd(8)}  ${nameText(event.name)}  ${shortUid(event.uid)}  ${tokenText(event.uid, event.token, options)}  ${generations}${ending}\n`;
    }
    case 'absent': {
      const known = { event: 'deletion seen', list: 'went unseen', '404': 'not there' }[event.how];
      return `${time}  ${'GONE'.padEnd(8)}  ${nameText(event.name)}  ${shortUid(event.uid ?? '-')}  (${known})\n`;
    }
    case 'gap': {
      const seconds = ((event.to ?? options.now) - event.from) / 1000;
      const what = event.to === undefined ? 'begins' : `of ${seconds.toFixed(1)} s ends`;
      return `${time}  ${'GAP'.padEnd(8)}  ${event.scope.resource}: ${what} (${event.cause}${event.detail === undefined ? '' : `; ${event.detail}`})\n`;
    }
    case 'read':
    case 'write':
    case 'note':
      return `${time}  ${event.type.toUpperCase()}\n`;
  }
}

/** One sentence about how a watch is doing; '' where it is doing well. */
export function stateSentence(resource: string, state: WatchState, now: number): string {
  switch (state.phase) {
    case 'listing':
    case 'live':
      return '';
    case 'waiting':
    case 'failed': {
      if (state.error === undefined) return '';
      const heard =
        state.lastHeardAt === undefined ? 'never heard' : `last heard ${seconds(now - state.lastHeardAt)} ago`;
      const next = state.retryAt === undefined ? '' : `; next try in ${seconds(state.retryAt - now)}`;
      return `${resource}: ${state.error.message} (${heard}${next})`;
    }
  }
}

function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
}

function nameText(name: ObjectName): string {
  return `${name.resource}/${name.namespace === '' ? '' : `${name.namespace}/`}${name.name}`;
}

function tokenText(uid: string, token: string, options: { rawTokens: boolean }): string {
  return options.rawTokens ? token : tokenBadge(uid, token, []).code;
}
