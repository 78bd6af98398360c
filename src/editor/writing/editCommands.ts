import { l10n, window, type Disposable } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import type { Incarnation } from '../../core/history.ts';
import { valueAt, type Path } from '../../codec/path.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { rowCommand } from '../app/rowCommand.ts';
import { limited } from '../app/signal.ts';
import { addressOfIncarnation, locate } from '../documents/locate.ts';
import { clusterKeyOf, livingIncarnationOf } from '../documents/objectCommands.ts';
import { readObject } from '../documents/readObject.ts';
import type { Located } from '../documents/objectSaver.ts';
import {
  releaseClaim,
  removeFinalizer,
  scaleTo,
  setAnnotation,
  setImage,
  setLabel,
  type ReadyEdit,
} from '../../write/readyEdits.ts';
import type { Report } from '../../write/report.ts';
import { describeTarget, identityOf, isSecret } from '../../write/target.ts';
import { liveUri } from '../documents/address.ts';
import { containerPaths, type Ability } from '../tree/abilities.ts';
import { living, objectRows } from '../tree/objectRowSource.ts';
import { askField } from './askField.ts';
import { ownersHint, ownersOfEdit, promptWithOwners } from './ownersOfEdit.ts';
import { releaseClaimOf } from './releaseClaim.ts';
import { waitUntilObserved } from './waitUntilObserved.ts';
import { isDone, outcomeSentence } from './outcomeWords.ts';

const READ_LIMIT_MS = 20_000;

const field = (...names: string[]): Path => names.map((name) => ({ field: name }));

/** The ready edits: scale, label, annotate, set an image or any field, remove a finalizer. Each is a safe write of one field. */
export function registerEditCommands(editor: Editor): Disposable[] {
  const aboutLiving = (id: string, run: (read: Read) => unknown, ...needed: readonly Ability[]): Disposable =>
    rowCommand(editor, id, objectRows(editor, living(...needed)), async (node) =>
      run(await read(editor, livingIncarnationOf(editor, node))),
    );
  const edit = (
    id: string,
    ask: (object: JsonObject, located: Located) => Promise<ReadyEdit>,
    ...needed: readonly Ability[]
  ): Disposable =>
    aboutLiving(
      id,
      async ({ located, object }) => {
        const { intent, subresource } = await ask(object, located);
        const target = subresource === undefined ? located.target : { ...located.target, subresource };
        await finish(editor, located, await editor.writer.write({ ...located, target, intent, seen: object }));
      },
      ...needed,
    );
  return [
    edit(commandIds.scale, askReplicas, 'replicas'),
    edit(commandIds.setLabel, (object) => askPair(object, 'labels', l10n.t('Set Label'), setLabel)),
    edit(commandIds.setAnnotation, (object) => askPair(object, 'annotations', l10n.t('Set Annotation'), setAnnotation)),
    edit(commandIds.setImage, askImage, 'images'),
    edit(commandIds.setField, (object, { target }) => askField(object, isSecret(target))),
    edit(commandIds.removeFinalizer, askFinalizer, 'finalizers'),
    edit(commandIds.releaseVolume, askRelease, 'volume'),
    aboutLiving(commandIds.releaseField, async ({ located, object }) =>
      finish(editor, located, await releaseClaimOf(editor, located, object)),
    ),
    aboutLiving(
      commandIds.waitUntilObserved,
      ({ located, object }) => waitUntilObserved(editor, located, object),
      'generation',
    ),
    editor.command(commandIds.showLastReport, () => editor.reports.show()),
  ];
}

/** An object as it is now, and where it is. */
interface Read {
  readonly located: Located;
  readonly object: JsonObject;
}

/** Reads the incarnation that is meant; refuses another one that holds the name now. */
async function read(editor: Editor, incarnation: Incarnation): Promise<Read> {
  const located = await locate(editor.clusters, addressOfIncarnation(incarnation, clusterKeyOf(editor, incarnation)));
  const object = await readObject(located.connected.cluster, located.target, limited(READ_LIMIT_MS));
  if (object === undefined) throw new AppError('not-found', l10n.t('{0} is gone.', describeTarget(located.target)));
  if (identityOf(object).uid !== incarnation.uid) {
    throw new AppError(
      'not-found',
      l10n.t('Another incarnation holds the name {0} now.', describeTarget(located.target)),
      { advice: l10n.t('Look at it in the tree first.') },
    );
  }
  return { located, object };
}

/** Says how a write ended, with the way to its report, or to the decision that it waits for. */
export async function finish(
  editor: Pick<Editor, 'reports' | 'decisions' | 'session'>,
  located: Located,
  report: Report,
): Promise<void> {
  const sentence = outcomeSentence(report, describeTarget(located.target));
  if (isDone(report.outcome) || report.outcome === 'cancelled') return;
  const show = l10n.t('Show Report');
  const decide = l10n.t('Decide');
  const { sides } = report;
  const chosen = await window.showWarningMessage(sentence, ...(sides === undefined ? [show] : [decide, show]));
  if (chosen === show) await editor.reports.show();
  if (chosen === decide && sides !== undefined) await openDecision(editor, located, sides);
}

async function openDecision(
  editor: Pick<Editor, 'decisions' | 'session'>,
  located: Located,
  sides: NonNullable<Report['sides']>,
): Promise<void> {
  const { group, version, resource, kind, namespace, name, uid = '' } = located.target;
  const uri = liveUri({ cluster: located.connected.key, group, version, resource, kind, namespace, name, uid });
  const hidden = isSecret(located.target) ? { hideKey: editor.session.secretKey } : {};
  await editor.decisions.open({ uri, text: '', located, sides, ...hidden });
}

async function askReplicas(object: JsonObject, { resource }: Located): Promise<ReadyEdit> {
  const path = field('spec', 'replicas');
  const now = valueAt(object, path);
  if (now === undefined) throw new AppError('usage', l10n.t('This kind has no replicas.'));
  const typed = await window.showInputBox({
    title: l10n.t('Scale'),
    prompt: promptWithOwners(l10n.t('Replicas'), object, scaleTo(0, resource.subresources)),
    value: stringifyJson(now),
    validateInput: (text) => (/^\d{1,9}$/.test(text.trim()) ? undefined : l10n.t('A whole number from 0.')),
  });
  if (typed === undefined) throw cancelled();
  return scaleTo(Number(typed), resource.subresources);
}

async function askPair(
  object: JsonObject,
  map: 'labels' | 'annotations',
  title: string,
  edit: (name: string, value?: string) => ReadyEdit,
): Promise<ReadyEdit> {
  const there = valueAt(object, field('metadata', map));
  const names = isJsonObject(there) ? Object.keys(there) : [];
  const read = (text: string): ReadyEdit => {
    const at = text.indexOf('=');
    return at < 0 ? edit(text.slice(0, -1)) : edit(text.slice(0, at), text.slice(at + 1));
  };
  const typed = await window.showInputBox({
    title,
    prompt: l10n.t('NAME=VALUE to set, NAME- to remove'),
    placeHolder: names.slice(0, 5).join(', '),
    validateInput: (text) =>
      /^[^=\s]+(=.*|-)$/.test(text) ? ownersHint(object, read(text)) : l10n.t('Write NAME=VALUE or NAME-.'),
  });
  if (typed === undefined) throw cancelled();
  return read(typed);
}

async function askImage(object: JsonObject): Promise<ReadyEdit> {
  const root = containerPaths.find((path) => Array.isArray(valueAt(object, path)));
  const containers = root === undefined ? [] : (valueAt(object, root) as Json[]);
  const items = containers.flatMap((item) =>
    isJsonObject(item) && typeof item['name'] === 'string'
      ? [
          {
            label: item['name'],
            description: typeof item['image'] === 'string' ? item['image'] : '',
            name: item['name'],
          },
        ]
      : [],
  );
  if (root === undefined || items.length === 0) throw new AppError('usage', l10n.t('This kind has no containers.'));
  const chosen =
    items.length === 1
      ? items[0]
      : await window.showQuickPick(items, { title: l10n.t('Set Image: of which container?') });
  if (chosen === undefined) throw cancelled();
  const image = await window.showInputBox({
    title: l10n.t('Set Image'),
    prompt: promptWithOwners(
      l10n.t('Image of {0}', chosen.label),
      object,
      setImage(object, chosen.name, chosen.description),
    ),
    value: chosen.description,
  });
  if (image === undefined || image.trim() === '') throw cancelled();
  const ready = setImage(object, chosen.name, image.trim());
  if (ready === undefined) throw new AppError('usage', l10n.t('This kind has no containers.'));
  return ready;
}

async function askFinalizer(object: JsonObject): Promise<ReadyEdit> {
  const path = field('metadata', 'finalizers');
  const there = valueAt(object, path);
  const finalizers = Array.isArray(there) ? there.filter((item) => typeof item === 'string') : [];
  if (finalizers.length === 0) throw new AppError('usage', l10n.t('This object has no finalizers.'));
  const chosen = await window.showQuickPick(finalizers, { title: l10n.t('Remove Finalizer') });
  if (chosen === undefined) throw cancelled();
  const remove = l10n.t('Remove');
  const question = l10n.t('Remove the finalizer {0}? What its controller still had to clean up stays behind.', chosen);
  const ready = removeFinalizer(chosen);
  const detail = ownersOfEdit(object, ready);
  const options = { modal: true, ...(detail === undefined ? {} : { detail }) };
  if ((await window.showWarningMessage(question, options, remove)) !== remove) throw cancelled();
  return ready;
}

async function askRelease(object: JsonObject): Promise<ReadyEdit> {
  const ready = releaseClaim(object);
  if (ready === undefined)
    throw new AppError('usage', l10n.t('Nothing binds this object to a claim.'), {
      advice: l10n.t('Choose a PersistentVolume whose claim is gone.'),
    });
  const release = l10n.t('Release');
  const question = l10n.t(
    'Free this volume for a new claim of the same name? The claim that it was bound to by UID does not get it back.',
  );
  if ((await window.showWarningMessage(question, { modal: true }, release)) !== release) throw cancelled();
  return ready;
}
