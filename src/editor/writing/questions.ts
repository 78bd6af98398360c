import { l10n, window } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { stringifyJson, type Json } from '../../codec/json.ts';
import { formatPath } from '../../codec/path.ts';
import type { Preview, PreviewedChange } from '../../write/preview.ts';
import type { Breach } from '../../core/responsibility.ts';

const CHANGES_SHOWN = 20;
const VALUE_LENGTH = 60;

/**
 * Asks before a write to a protected context, and before a removed line becomes another value, with what the server would
 * store.
 * @throws AppError `cancelled` where the person says no
 */
export async function confirmPreview(name: string, context: string, guarded: boolean, preview: Preview): Promise<void> {
  const { changes, resets } = preview;
  const lines = [
    ...resets.map(({ path, before, after }) =>
      l10n.t('{0}: the removed value {1} becomes the default {2}', path, words(before), words(after)),
    ),
    ...(guarded ? changes.slice(0, CHANGES_SHOWN).map(changeLine) : []),
    ...(guarded && changes.length > CHANGES_SHOWN ? [l10n.t('… and {0} more', changes.length - CHANGES_SHOWN)] : []),
  ];
  const question = guarded
    ? l10n.t('Write {0} in the protected context {1}?', name, context)
    : l10n.t('Write {0}? A removed line becomes a default.', name);
  await confirm(question, lines);
}

/**
 * Asks before fields are changed that somebody else is responsible for.
 * @throws AppError `cancelled` where the person says no
 */
export async function confirmBreaches(name: string, breaches: readonly Breach[]): Promise<void> {
  const lines = breaches.map(({ path, responsibility: { manager, reason } }) =>
    l10n.t('{0} is the responsibility of {1}: {2}', formatPath(path), manager, reason),
  );
  await confirm(l10n.t('Change fields of {0} that others are responsible for?', name), [...new Set(lines)]);
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
