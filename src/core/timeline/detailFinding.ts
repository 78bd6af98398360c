import { preciseTimeText } from './axis.ts';
import type { DetailContext } from './detailParts.ts';
import type { DetailSection, EventDetails } from './detailTypes.ts';
import type { TimelineFinding } from './model.ts';

/** Details with what is said of a finding that the person came from; `proof` describes the events that it rests on. */
export function withFinding(
  context: DetailContext,
  details: EventDetails,
  finding: TimelineFinding,
  proof: (seq: number) => EventDetails | undefined,
): EventDetails {
  const { translate } = context;
  const section: DetailSection = {
    title: translate('Finding: {0}', finding.id),
    entries: [
      {
        lines: [finding.explanation],
        tone: finding.severity === 'info' ? 'plain' : 'bad',
        ...(finding.actors.length === 0 ? {} : { actor: finding.actors.join(' · ') }),
        ...(finding.count > 1 ? { how: translate('{0} times', finding.count) } : {}),
      },
      ...(finding.fields.length === 0 ? [] : [{ lines: finding.fields.slice(0, 12) }]),
    ],
  };
  const advice =
    finding.remedy === undefined || finding.remedy === ''
      ? []
      : [{ title: translate('What to do'), entries: [{ lines: [finding.remedy] }] }];
  const evidence = finding.events
    .slice(0, 12)
    .filter((event) => event !== details.event)
    .map((event) => ({ label: evidenceLabel(context, event, finding.fields, proof(event)), event }));
  return {
    ...details,
    finding: { id: finding.id, sections: [section, ...advice], evidence },
    text: [`${finding.id}: ${finding.explanation}`, ...evidence.map(({ label }) => label), '', details.text].join('\n'),
  };
}

/** When, who, and what of the finding's fields, or what kind of event it is. */
function evidenceLabel(
  { translate, timeZoneOffsetMin }: DetailContext,
  seq: number,
  fields: readonly string[],
  details: EventDetails | undefined,
): string {
  if (details === undefined) return translate('evidence: event {0}', seq);
  const { at, title, actor, sections } = details;
  const changed = sections.find((section) => section.title === translate('What changed'));
  const lines = changed?.entries.flatMap((entry) => entry.lines) ?? [];
  const change = lines.find((line) => fields.some((field) => line.startsWith(field)));
  const what = [actor ?? '', change ?? title].filter((part) => part !== '').join(' · ');
  return `${preciseTimeText(at, timeZoneOffsetMin)} ${what}`;
}
