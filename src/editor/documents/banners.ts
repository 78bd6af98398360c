import {
  CodeLens,
  EventEmitter,
  l10n,
  languages,
  Range,
  type CodeLensProvider,
  type Disposable,
  type TextDocument,
} from 'vscode';
import { nameKey } from '../../core/history.ts';
import type { ObjectName } from '../../core/traceEvent.ts';
import { identityOf } from '../../write/target.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, languageId, scheme } from '../app/ids.ts';
import { newestVersion, shortUid } from '../tree/wording.ts';
import { parseAddress } from './address.ts';
import type { LiveDocument } from './liveDocument.ts';

/** A line above the text of a live object that says what its state is: changed meanwhile, terminating, gone, replaced. */
export function registerBanners(editor: Pick<Editor, 'live' | 'session' | 'clusters' | 'associations'>): Disposable[] {
  const changed = new EventEmitter<void>();
  const provider: CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (text) => lenses(editor, text),
  };
  return [
    changed,
    editor.live.onDidChangeState(() => changed.fire()),
    editor.associations.onDidChange(() => changed.fire()),
    languages.registerCodeLensProvider({ scheme, language: languageId }, provider),
  ];
}

function lenses(
  editor: Pick<Editor, 'live' | 'session' | 'clusters' | 'associations'>,
  text: TextDocument,
): CodeLens[] {
  const address = parseAddress(text.uri);
  if (address.type === 'decision') {
    const title = `$(save) ${l10n.t('Choose, then save this text: saving writes it.')}`;
    return [new CodeLens(new Range(0, 0, 0, 0), { title, command: 'workbench.action.files.save' })];
  }
  const document = address.type === 'live' ? editor.live.find(text.uri) : undefined;
  if (document === undefined) return [];
  const top = new Range(0, 0, 0, 0);
  const { cluster, ...name } = document.address;
  const id = editor.clusters.get(cluster)?.id ?? cluster;
  const node = { type: 'incarnation', id: '', watch: '', key: nameKey(id, name), uid: document.address.uid };
  const lens = (title: string, command = '', argument: unknown = node): CodeLens =>
    new CodeLens(top, { title, command, arguments: [argument] });
  const state = stateWords(document);
  const moved =
    editor.live.isDirty(document) &&
    document.base !== undefined &&
    identityOf(document.base).token !== identityOf(document.stored).token &&
    identityOf(document.base).token !== '';
  return [
    ...(state === '' ? [] : [lens(`$(warning) ${state}`)]),
    ...leftBehind(editor, document, id, name, lens),
    ...(moved ? [lens(`$(sync) ${l10n.t('Changed on the server meanwhile: saving carries your change over.')}`)] : []),
    lens(l10n.t('Show on Timeline'), commandIds.showOnTimeline),
    ...(document.address.resource === 'secrets'
      ? [
          lens(
            document.hideKey === undefined ? l10n.t('Hide Values') : l10n.t('Show Values'),
            commandIds.showSecretValues,
          ),
        ]
      : []),
    ...(newestVersion(editor.session.history.uids.get(`${id}\0${document.address.uid}`) ?? emptyIncarnation) ===
    undefined
      ? []
      : [lens(l10n.t('Compare with a Version'), commandIds.compareVersions)]),
  ];
}

/** What belonged to an incarnation that is gone, out there, with what can be done about it. */
function leftBehind(
  { associations }: Pick<Editor, 'associations'>,
  document: LiveDocument,
  cluster: string,
  name: ObjectName,
  lens: (title: string, command: string, argument: unknown) => CodeLens,
): CodeLens[] {
  if (document.state !== 'gone' && document.state !== 'recreated') return [];
  const left = associations.atName(cluster, name).filter(({ association }) => association.uid === document.address.uid);
  return left.flatMap(({ association, state }, index) => {
    const { what, id } = association;
    const node = { type: 'detail', id: `${id}/${index}`, label: what, association };
    return [
      lens(l10n.t('{0} {1} belonged to it: it is cleaned up', what, id), commandIds.cleanUpAssociation, node),
      ...(state === 'stale' ? [lens(l10n.t('the new incarnation adopts it'), commandIds.adoptAssociation, node)] : []),
    ];
  });
}

const emptyIncarnation = {
  cluster: '',
  name: { group: '', resource: '', namespace: '', name: '' },
  uid: '',
  apiVersion: '',
  kind: '',
  began: 'earlier' as const,
  firstAt: 0,
  firstSeq: 0,
  versions: [],
};

function stateWords(document: LiveDocument): string {
  switch (document.state) {
    case 'live':
      return '';
    case 'terminating':
      return l10n.t('This object is being deleted.');
    case 'gone':
      return l10n.t('This incarnation is gone and the name is free. The text is the last that was seen.');
    case 'recreated':
      return l10n.t(
        'This incarnation is gone: {0} holds the name now. The text is the last that was seen of the old one.',
        shortUid(document.holder ?? ''),
      );
  }
}
