import { EventEmitter, FileDecoration, l10n, ThemeColor, Uri, window, type Disposable } from 'vscode';
import { nameKey } from '../../core/history.ts';
import type { Session } from '../session/session.ts';
import { markOf, type ObjectMark } from './objectRows.ts';

const decorationScheme = 'object-version-row';

/** The address that a row is decorated by; it opens nothing. */
export function objectUri(key: string): Uri {
  return Uri.from({ scheme: decorationScheme, path: `/${encodeURIComponent(key)}` });
}

/** Badges in the margin of the rows of objects: changed, terminating, recreated, conflict, stale reference, gone. */
export function registerDecorations(session: Session, now: () => number): Disposable {
  const changed = new EventEmitter<Uri[] | undefined>();
  const subscription = session.onDidChange(({ events }) => {
    const keys = new Set<string>();
    for (const event of events)
      if ('name' in event && event.name !== undefined) keys.add(nameKey(event.cluster, event.name));
    changed.fire(keys.size > 200 ? undefined : [...keys].map(objectUri));
  });
  const registration = window.registerFileDecorationProvider({
    onDidChangeFileDecorations: changed.event,
    provideFileDecoration(uri) {
      if (uri.scheme !== decorationScheme) return undefined;
      const history = session.history.names.get(decodeURIComponent(uri.path.slice(1)));
      const mark = history === undefined ? undefined : markOf(history, session.findings(), now());
      return mark === undefined ? undefined : decoration(mark);
    },
  });
  return { dispose: () => [registration, subscription, changed].forEach((item) => item.dispose()) };
}

function decoration(mark: ObjectMark): FileDecoration {
  switch (mark) {
    case 'stale-reference':
      return new FileDecoration(
        '!',
        l10n.t('Refers to something that is gone'),
        new ThemeColor('list.warningForeground'),
      );
    case 'conflict':
      return new FileDecoration(
        '◆',
        l10n.t('A write was refused because of a conflict'),
        new ThemeColor('list.errorForeground'),
      );
    case 'terminating':
      return new FileDecoration('T', l10n.t('Terminating'), new ThemeColor('gitDecoration.deletedResourceForeground'));
    case 'recreated':
      return new FileDecoration(
        '↻',
        l10n.t('Recreated: this name has had several incarnations'),
        new ThemeColor('gitDecoration.renamedResourceForeground'),
      );
    case 'gone':
      return new FileDecoration('–', l10n.t('Gone'), new ThemeColor('disabledForeground'));
    case 'changed':
      return new FileDecoration(
        '●',
        l10n.t('Changed just now'),
        new ThemeColor('gitDecoration.modifiedResourceForeground'),
      );
  }
}
