import { endingWrite, type EndingWrite } from '../endingWrite.ts';
import type { Incarnation, NameHistory } from '../history.ts';
import type { AbsentEvent } from '../traceEvent.ts';
import { actorName } from './classify.ts';
import { historyOf, incarnationFact, incarnationOf, type DetailContext } from './detailParts.ts';
import type { DetailFact, EventDetails } from './detailTypes.ts';

const HOW: Readonly<Record<AbsentEvent['how'], string>> = {
  event: 'seen by the watch',
  list: 'missing from a list',
  '404': 'not found',
};

/** By what it is known who ended an incarnation, to be translated. */
export const ENDED_BY: Readonly<Record<EndingWrite['known'], string>> = {
  gone: 'the answer to the deletion said that nothing is left',
  version: 'the answer to the deletion has the version of the end',
  released: 'the write took the last finalizer away',
  unheld: 'the version that the deletion made waited for nothing',
  only: 'no other deletion was accepted while it lived',
};

/** The details of an end: how it was seen, who brought it about, and by what that is known. */
export function absentDetails(context: DetailContext, event: AbsentEvent): EventDetails {
  const { translate } = context;
  const at = historyOf(context, event);
  const uid = event.uid ?? at?.incarnations.at(-1)?.uid ?? '';
  const incarnation = incarnationOf(context, event.cluster, uid);
  const began = incarnation?.versions.find((version) => version.deletionTimestamp !== undefined);
  const facts: DetailFact[] = [
    { label: translate('how'), value: translate(HOW[event.how]) },
    ...whoFacts(context, at, incarnation),
    incarnationFact(context, event.cluster, event.name, uid),
  ];
  const related = began === undefined ? [] : [{ label: translate('the deletion began'), event: began.event }];
  return context.finish({
    event,
    kind: 'deleted',
    title: translate('Deleted'),
    uid,
    facts,
    sections: [],
    diff: undefined,
    related,
  });
}

/** Who ended it; of what waited for finalizers or a grace period also who asked for it. */
function whoFacts(
  { translate }: DetailContext,
  at: NameHistory | undefined,
  incarnation: Incarnation | undefined,
): DetailFact[] {
  const ending = at === undefined || incarnation === undefined ? undefined : endingWrite(at, incarnation);
  const asking = incarnation?.versions.find((version) => version.deletionTimestamp !== undefined)?.actor;
  const asked = actorName(asking);
  const facts: DetailFact[] = asked === '' ? [] : [{ label: translate('asked for by'), value: asked }];
  const name = actorName(ending?.write.actor);
  const label = translate('writer');
  if (ending === undefined || name === '') {
    const remark = asked === '' ? {} : { remark: translate('who let it go was not seen') };
    return [...facts, { label, value: translate('not known'), tone: 'muted', ...remark }];
  }
  return [
    { label, value: name, remark: ending.write.verb, isActor: true, tone: 'plain' },
    ...(asked === name ? [] : facts),
    { label: translate('known by'), value: translate(ENDED_BY[ending.known]) },
  ];
}
