import { l10n, window } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { parseJson, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import { formatPath, valueAt, type Path } from '../../codec/path.ts';
import { editablePath } from '../../write/editablePath.ts';
import { removeField, setField, type ReadyEdit } from '../../write/readyEdits.ts';
import { ownersHint, promptWithOwners } from './ownersOfEdit.ts';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';

/**
 * Asks for one field and its new value; an empty value removes it. A Secret's values are not shown.
 * @throws AppError `cancelled`
 */
export async function askField(object: JsonObject, secret: boolean): Promise<ReadyEdit> {
  const typed = await window.showInputBox({
    title: l10n.t('Set Field'),
    prompt: l10n.t('Which field? Such as spec.replicas, .data["a.b"], .spec.containers[name="web"].image'),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const read = editablePath(text.trim());
      return 'problem' in read ? inWords(read.problem, translated) : ownersHint(object, removeField(read.path));
    },
  });
  const read = typed === undefined ? undefined : editablePath(typed.trim());
  if (read === undefined || 'problem' in read) throw cancelled();
  return askValue(object, read.path, secret);
}

async function askValue(object: JsonObject, path: Path, secret: boolean): Promise<ReadyEdit> {
  const now = secret ? undefined : valueAt(object, path);
  const typed = await window.showInputBox({
    title: l10n.t('Set Field'),
    prompt: promptWithOwners(
      l10n.t('New value of {0} as JSON; empty removes it', formatPath(path)),
      object,
      removeField(path),
    ),
    value: now === undefined ? '' : stringifyJson(now),
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' || jsonOf(text) !== undefined
        ? undefined
        : l10n.t('This is no JSON; a text stands between quotes.'),
  });
  if (typed === undefined) throw cancelled();
  const value = jsonOf(typed);
  return value === undefined ? removeField(path) : setField(path, value);
}

function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
