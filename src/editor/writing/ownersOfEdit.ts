import { InputBoxValidationSeverity, l10n, type InputBoxValidationMessage } from 'vscode';
import type { JsonObject } from '../../codec/json.ts';
import { noListSchema } from '../../core/listSchema.ts';
import { translated } from '../app/translated.ts';
import { describeOwner, ownersAt } from '../../core/ownership.ts';
import type { ReadyEdit } from '../../write/readyEdits.ts';
import { ownersIn } from '../../write/winners.ts';
import { settings } from '../app/settings.ts';
import { changedPaths } from './changedPaths.ts';

/**
 * Who else owns what an edit touches, and since when, by the `managedFields` of the object: `Owner: helm (Apply), since
 * 2026-01-02T03:04:05Z or earlier`. Undefined where nobody but our own field manager does.
 */
export function ownersOfEdit(object: JsonObject, { intent }: ReadyEdit): string | undefined {
  const { fieldManager } = settings.write();
  const others = ownersIn(object).filter(({ manager }) => manager !== fieldManager);
  const owners = new Set(
    changedPaths(intent, noListSchema)
      .flatMap((path) => ownersAt(others, path))
      .map((owner) =>
        owner.time === undefined
          ? describeOwner(owner, translated)
          : l10n.t('{0}, since {1} or earlier', describeOwner(owner, translated), owner.time),
      ),
  );
  return owners.size === 0 ? undefined : l10n.t('Owner: {0}', [...owners].join('; '));
}

/** A prompt with who owns what is asked about beside it. */
export function promptWithOwners(prompt: string, object: JsonObject, edit: ReadyEdit | undefined): string {
  const owners = edit === undefined ? undefined : ownersOfEdit(object, edit);
  return owners === undefined ? prompt : `${prompt} · ${owners}`;
}

/** The same below an input box, where what is typed decides what is touched. */
export function ownersHint(object: JsonObject, edit: ReadyEdit): InputBoxValidationMessage | undefined {
  const message = ownersOfEdit(object, edit);
  return message === undefined ? undefined : { message, severity: InputBoxValidationSeverity.Info };
}
