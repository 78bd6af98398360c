import { l10n, window } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { stringifyJson, type Json } from '../../codec/json.ts';
import { formatPath } from '../../codec/path.ts';
import type { Preview, PreviewedChange } from '../../write/preview.ts';
import type { Report } from '../../write/report.ts';
import type { Breach } from '../../core/responsibility.ts';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';

const CHANGES_SHOWN = 20;
const VALUE_LENGTH = 60;

/**
 * Asks before a write to a protected context, and before a removed line becomes another value, with what the server would
 * store.
 * @throws AppError `cancelled` where the person says no
 */
export async function confirmPreview(
  name: string,
  context: string,
  { guarded, again }: { readonly guarded: boolean; readonly again: boolean },
  preview: Preview,
): Promise<void> {
  const { changes, replaced, resets, report } = preview;
  const untold = l10n.t(
    'What would be stored is not known; the dry run was refused: {0}',
    inWords(report.message ?? '', translated),
  );
  const lines = [
    ...(again ? [l10n.t('Somebody changed it in the meantime: nothing was written yet.')] : []),
    ...(report.outcome === 'written' ? desiredState(report) : [untold]),
    ...resets.map(({ path, before, after }) =>
      l10n.t('{0}: the removed value {1} becomes the default {2}', path, words(before), words(after)),
    ),
    ...replaced.map(({ list, before, after }) => l10n.t('{0}: replaces entry {1} by {2}', list, before, after)),
    ...(guarded ? shortList(changes.map(changeLine)) : []),
  ];
  const question = guarded
    ? l10n.t('Write {0} in the protected context {1}?', name, context)
    : l10n.t('Write {0}? A removed line becomes a default.', name);
  await confirm(question, lines);
}

/** Whether a write would change the desired state, as the generation of the dry run tells; nothing where kinds have none. */
function desiredState({ desiredStateChanged }: Report): string[] {
  if (desiredStateChanged === undefined) return [];
  return [
    desiredStateChanged ? l10n.t('This changes the desired state.') : l10n.t('This does not change the desired state.'),
  ];
}

/**
 * Asks before fields are changed that somebody else is responsible for.
 * @throws AppError `cancelled` where the person says no
 */
export async function confirmBreaches(name: string, breaches: readonly Breach[]): Promise<void> {
  const lines = breaches.map(({ path, responsibility: { manager, reason } }) =>
    l10n.t('{0} is the responsibility of {1}: {2}', formatPath(path), manager, inWords(reason, translated)),
  );
  await confirm(l10n.t('Change fields of {0} that others are responsible for?', name), [...new Set(lines)]);
}

/** Whether the newest version of an object is to be deleted, though it changed since the one that was meant. */
export async function confirmNewest(name: string, { conflicts, attempts }: Report): Promise<boolean> {
  const winners = new Set((attempts.at(-1)?.wonBy ?? []).map(({ manager }) => manager));
  const lines =
    conflicts === undefined
      ? [l10n.t('What changed is not known: the server keeps the version that you saw no more.')]
      : changesOf(conflicts);
  const remove = l10n.t('Delete Newest Version');
  const question = l10n.t('{0} changed since you looked. Delete it as it is now?', name);
  const by = winners.size === 0 ? [] : [l10n.t('Changed by {0}:', [...winners].join(', '))];
  const detail = [...by, ...lines].join('\n');
  return (await window.showWarningMessage(question, { modal: true, detail }, remove)) === remove;
}

/** What became of fields since the version that a person meant: `.data.visits: "393" → "396"`. */
export function changesOf(conflicts: NonNullable<Report['conflicts']>): string[] {
  return shortList(conflicts.map(({ path, base, theirs }) => changeLine({ path, ...definedOf(base, theirs) })));
}

function definedOf(before: Json | undefined, after: Json | undefined): Omit<PreviewedChange, 'path'> {
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

/** The first of many lines, and how many more there are. */
export function shortList(lines: readonly string[]): string[] {
  const more = lines.length - CHANGES_SHOWN;
  return more <= 0 ? [...lines] : [...lines.slice(0, CHANGES_SHOWN), l10n.t('… and {0} more', more)];
}

async function confirm(question: string, lines: readonly string[]): Promise<void> {
  const write = l10n.t('Write');
  const detail = lines.join('\n');
  if ((await window.showWarningMessage(question, { modal: true, detail }, write)) !== write) throw cancelled();
}

function changeLine({ path, before, after }: PreviewedChange): string {
  return before === undefined && after === undefined ? path : `${path}: ${words(before)} → ${words(after)}`;
}

function words(value: Json | undefined): string {
  const text = value === undefined ? l10n.t('nothing') : stringifyJson(value);
  return text.length <= VALUE_LENGTH ? text : `${text.slice(0, VALUE_LENGTH)}…`;
}
