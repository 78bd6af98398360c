import { stringifyJson, type Json } from '../../codec/json.ts';
import { diffObjects, type Change } from '../diff.ts';
import type { Incarnation, Version } from '../history.ts';
import { noListSchema } from '../listSchema.ts';
import { describeOwner, ownersAt, ownersOf } from '../ownership.ts';
import { formatPath, parsePath } from '../../codec/path.ts';
import { durationText } from './axis.ts';
import type { DetailEntry, DetailFact, DetailSection } from './detailTypes.ts';
import type { Translate } from './translate.ts';

const MAX_LINES = 12;
const MAX_VALUE = 48;
const BOOKKEEPING = /^\.metadata\.(resourceVersion|managedFields|generation)(?![\w-])/;

/** The fields that changed, with what they were and are where the bodies were kept. */
export function changeSections(
  version: Version | undefined,
  before: Version | undefined,
  translate: Translate,
): DetailSection[] {
  const lines = changeLines(version, before);
  if (lines === undefined) {
    if (version === undefined || before === undefined) return [];
    return [
      {
        title: translate('What changed'),
        entries: [{ lines: [translate('not known: the contents were not kept')], tone: 'muted' }],
      },
    ];
  }
  if (lines.length === 0) {
    return [
      { title: translate('What changed'), entries: [{ lines: [translate('nothing but bookkeeping')], tone: 'muted' }] },
    ];
  }
  return [{ title: translate('What changed'), entries: [{ lines: bounded(lines, translate) }] }];
}

/** One line for each changed field: `.spec.replicas 1 → 2`, or only its path; undefined where it is not known. */
export function changeLines(version: Version | undefined, before: Version | undefined): string[] | undefined {
  if (version?.body !== undefined && before?.body !== undefined) {
    return diffObjects(before.body, version.body, noListSchema)
      .filter((change) => !BOOKKEEPING.test(formatPath(change.path)))
      .map((change) => changeLine(change));
  }
  return version?.changed === undefined ? undefined : version.changed.paths.slice();
}

/** At most a dozen lines, and how many more there are. */
export function bounded(lines: readonly string[], translate: Translate): string[] {
  if (lines.length <= MAX_LINES) return lines.slice();
  return [...lines.slice(0, MAX_LINES - 1), translate('… and {0} more', lines.length - MAX_LINES + 1)];
}

function changeLine(change: Change): string {
  const path = formatPath(change.path);
  if (change.kind === 'added') return `${path} + ${printed(change.after)}`;
  if (change.kind === 'removed') return `${path} − ${printed(change.before)}`;
  return `${path} ${printed(change.before)} → ${printed(change.after)}`;
}

function printed(value: Json | undefined): string {
  if (value === undefined) return '∅';
  const text = typeof value === 'string' ? value : stringifyJson(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE - 1)}…`;
}

/** generation and observedGeneration, compared with each other only. */
export function generationText(
  incarnation: Incarnation | undefined,
  index: number,
  translate: Translate,
): DetailFact | undefined {
  const version = incarnation?.versions[index];
  const before = incarnation?.versions[index - 1];
  if (incarnation === undefined || version?.generation === undefined) return undefined;
  const moved = before?.generation !== undefined && before.generation !== version.generation;
  const value = moved ? `${before.generation} → ${version.generation}` : String(version.generation);
  const { observedGeneration } = version;
  if (observedGeneration === undefined) return { label: translate('generation'), value };
  const reached = observedGeneration === version.generation;
  const lag = lagOf(incarnation, version.generation);
  const after = lag === undefined ? undefined : durationText(lag);
  const remark = reached
    ? after === undefined
      ? translate('observed')
      : translate('observed after {0}', after)
    : after === undefined
      ? translate('observed is {0}', observedGeneration)
      : translate('observed is {0}, reached after {1}', observedGeneration, after);
  return { label: translate('generation'), value, remark, tone: reached ? 'same' : 'different' };
}

/** How long it took until a generation was observed, in ms; undefined where its beginning or that it was is not known, or at once. */
function lagOf({ versions, began, firstAt }: Incarnation, generation: number): number | undefined {
  const start = versions.findIndex((one) => one.generation === generation);
  const first = versions[start];
  if (first === undefined || (start === 0 && (began !== 'seen' || first.at !== firstAt))) return undefined;
  const reached = versions.slice(start).find(({ observedGeneration = -1 }) => observedGeneration >= generation);
  return reached === undefined || reached === first ? undefined : reached.at - first.at;
}

/** Who owns the fields that changed. */
export function ownerSection(
  version: Version | undefined,
  managedFields: Json[] | undefined,
  translate: Translate,
): DetailSection[] {
  const metadata = version?.body?.['metadata'];
  const inBody =
    typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
      ? metadata['managedFields']
      : undefined;
  const owners = ownersOf(managedFields ?? (Array.isArray(inBody) ? inBody : undefined));
  const paths = version?.changed?.paths ?? [];
  if (owners.length === 0 || paths.length === 0) return [];
  const entries: DetailEntry[] = [];
  const byOwner = new Map<string, string[]>();
  for (const text of paths.slice(0, MAX_LINES)) {
    const parsed = parsePath(text);
    if (!('path' in parsed)) continue;
    for (const owner of ownersAt(owners, parsed.path)) {
      const name = describeOwner(owner, translate);
      byOwner.set(name, [...(byOwner.get(name) ?? []), text]);
    }
  }
  for (const [actor, lines] of byOwner) entries.push({ actor, lines });
  return entries.length === 0 ? [] : [{ title: translate('Who owns these fields now'), entries }];
}
