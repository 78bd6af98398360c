import { randomUUID } from 'node:crypto';
import { commands, l10n } from 'vscode';
import type { JsonObject } from '../../codec/json.ts';
import { printYaml } from '../../codec/yamlPrint.ts';
import { describeTarget, isSecret, type Target } from '../../write/target.ts';
import { otherUri } from '../documents/address.ts';
import type { TimelineSource } from '../timeline/timelineSource.ts';
import { timelineText } from '../timeline/timelineText.ts';
import { shownOf } from '../documents/hiddenValues.ts';
import type { TextShelf } from '../documents/textShelf.ts';

/** Shows what a write would store beside what is stored; a Secret's values stay hidden. */
export async function showPreview(
  shelf: TextShelf,
  secretKey: string,
  target: Target,
  before: JsonObject,
  after: JsonObject,
): Promise<void> {
  const id = randomUUID();
  const text = (object: JsonObject): string =>
    printYaml(shownOf(object, isSecret(target) ? { key: secretKey } : undefined));
  const left = otherUri('side', `${id}-before`, `${target.name} stored.yaml`);
  const right = otherUri('side', `${id}-after`, `${target.name} would be.yaml`);
  shelf.put(left, text(before));
  shelf.put(right, text(after));
  await commands.executeCommand(
    'vscode.diff',
    left,
    right,
    l10n.t('{0}: stored ↔ would be stored', describeTarget(target)),
    { preview: true },
  );
}

/** Shows a timeline as text. */
export async function showTimelineText(
  { shelf }: { readonly shelf: TextShelf },
  source: TimelineSource,
): Promise<void> {
  const uri = otherUri('report', randomUUID(), `${l10n.t('Object Timeline')}.md`);
  shelf.put(uri, timelineText(source));
  await commands.executeCommand('vscode.open', uri);
}
