import type { History } from '../history.ts';
import type { GapEvent } from '../traceEvent.ts';
import type { GapInfo } from './model.ts';
import type { Translate } from './translate.ts';

/**
 * The gaps of a history as a timeline shows them. A watch that went on from the last version it was given missed nothing:
 * what came late was observed all the same.
 */
export function gapsOf({ gaps }: History, translate: Translate): GapInfo[] {
  return gaps.filter(({ resumed }) => resumed !== true).map((gap) => gapInfo(gap, translate));
}

function gapInfo(gap: History['gaps'][number], translate: Translate): GapInfo {
  return {
    id: gap.gap,
    cluster: gap.cluster,
    scope: gap.scope,
    from: gap.from,
    event: gap.seq,
    cause: causeText(gap, translate),
    ...(gap.to === undefined ? {} : { to: gap.to }),
  };
}

/** The sentence of a gap. */
export function gapText({ cause }: GapInfo, translate: Translate): string {
  return `${translate('not observed')} · ${cause}`;
}

const CAUSES: Readonly<Record<GapEvent['cause'], string>> = {
  expired: 'relist after 410',
  relist: 'relist',
  'connection-lost': 'connection lost',
  idle: 'the watch went silent',
  error: 'error',
  paused: 'paused',
  recorder: 'recorder could not keep up',
  restart: 'not running',
};

function causeText(gap: GapEvent, translate: Translate): string {
  return gap.cause === 'error' && gap.detail !== undefined ? gap.detail : translate(CAUSES[gap.cause]);
}
