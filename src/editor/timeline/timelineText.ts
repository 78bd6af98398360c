import { l10n } from 'vscode';
import type { Incarnation, NameHistory } from '../../core/history.ts';
import type { WriteEvent } from '../../core/traceEvent.ts';
import { badgesOf, describeActor, describeBeginning, describeChange, describeEnd } from '../tree/wording.ts';
import type { TimelineSource } from './timelineSource.ts';

const OBJECTS = 500;
const LINES = 200;

/** The timeline as a Markdown document: for screen readers, for reading, and for pasting into a report. */
export function timelineText(source: TimelineSource): string {
  const names = [...source.log.history.names.values()].sort((a, b) => lastAt(b) - lastAt(a));
  const shown = names.slice(0, OBJECTS);
  return [
    `# ${l10n.t('Object Timeline')}`,
    l10n.t('{0} objects, the one that changed last first.', names.length),
    ...(shown.length < names.length ? [l10n.t('The first {0} of them are shown.', shown.length)] : []),
    ...findingLines(source),
    ...shown.map((history) => objectText(history, source)),
    '',
  ].join('\n\n');
}

function findingLines(source: TimelineSource): string[] {
  const lines = source.findings().map((finding) => `- ${finding.id}: ${finding.explanation}`);
  return lines.length === 0 ? [] : [`## ${l10n.t('Findings')}`, lines.join('\n')];
}

function lastAt({ incarnations, writes }: NameHistory): number {
  return Math.max(0, incarnations.at(-1)?.versions.at(-1)?.at ?? 0, writes.at(-1)?.at ?? 0);
}

function objectText(history: NameHistory, source: TimelineSource): string {
  const { cluster, name, incarnations, writes } = history;
  const title = `${name.resource} ${name.namespace === '' ? '' : `${name.namespace}/`}${name.name} (${source.clusterLabel(cluster)})`;
  const refused = writes.filter(({ outcome }) => outcome !== 'accepted' && outcome !== 'unchanged');
  return [
    `## ${title}`,
    ...incarnations.map((incarnation) => incarnationText(history, incarnation)),
    ...(refused.length === 0 ? [] : [refusedText(refused)]),
  ].join('\n\n');
}

function incarnationText(history: NameHistory, incarnation: Incarnation): string {
  const badges = badgesOf(incarnation);
  const versions = incarnation.versions.slice(-LINES).map((version) => {
    const generation = version.generation === undefined ? '' : `, ${l10n.t('generation {0}', version.generation)}`;
    return `- ${time(version.at)} ${badges.get(version.token)?.code ?? ''}: ${describeChange(incarnation, version)}, ${describeActor(version.actor)}${generation}`;
  });
  const life = [describeBeginning(incarnation), describeEnd(history, incarnation)]
    .filter((part) => part !== undefined)
    .join('; ');
  return [`### ${l10n.t('Incarnation {0}', incarnation.uid)}`, life, versions.join('\n')].join('\n\n');
}

function refusedText(writes: readonly WriteEvent[]): string {
  const lines = writes
    .slice(-LINES)
    .map(
      (write) =>
        `- ${time(write.at)} ${describeActor(write.actor)}: ${write.outcome}${write.code === undefined ? '' : ` (${write.code})`}`,
    );
  return [`### ${l10n.t('Refused writes')}`, lines.join('\n')].join('\n\n');
}

function time(at: number): string {
  return new Date(at).toISOString();
}
