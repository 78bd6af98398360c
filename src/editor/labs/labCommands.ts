import type { Disposable } from 'vscode';
import type { LabPage } from '../../protocol/labStates.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { declaredDefinition } from '../watches/addWatch.ts';
import { ContentionSession } from './contentionSession.ts';
import { EditorPlaces } from './editorPlaces.ts';
import { LabPanels, type AnySession } from './labPanels.ts';
import type { LabSessionParts } from './labPlaces.ts';
import { translated } from '../app/translated.ts';
import { lessonsOf, registerLessons } from './lessonCommands.ts';
import { ModularSession } from './modularSession.ts';
import { ReplaySession } from './replaySession.ts';

/** The labs: a page for each, the view of the lessons, and their commands. */
export function registerLabs(editor: Editor): Disposable[] {
  const places = new EditorPlaces(editor);
  const parts: LabSessionParts = {
    places,
    clock: editor.clock,
    translate: translated,
    watch: (resources, namespace, signal) => watch(editor, places, resources, namespace, signal),
    onError: (error) => editor.log.error(String(error)),
  };
  const lessons = lessonsOf(editor, places, parts);
  const panels = new LabPanels(editor, places, (page) => {
    if (page === 'lessons') return { session: asAny(lessons), keep: true };
    return { session: newSession(page, parts), keep: false };
  });
  editor.onDeactivate(async () => {
    lessons.dispose();
    await Promise.all([lessons.ended(), panels.end()]);
  });
  return [
    places,
    lessons,
    panels,
    editor.command(commandIds.labModular, () => panels.show('modular')),
    editor.command(commandIds.labReplay, () => panels.show('replay')),
    editor.command(commandIds.labContention, () => panels.show('contention')),
    editor.command(commandIds.labLessons, () => panels.show('lessons')),
    ...registerLessons(editor, lessons, panels),
  ];
}

/** Lets the tree show what a lab is about. */
async function watch(
  { watches }: Editor,
  places: EditorPlaces,
  resources: readonly string[],
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const connected = places.connected();
  if (connected === undefined) return;
  for (const resource of resources)
    await watches.add(await declaredDefinition(connected, `${resource} in ${namespace}`, signal), false);
}

function newSession(page: Exclude<LabPage, 'lessons'>, parts: LabSessionParts): AnySession {
  switch (page) {
    case 'modular':
      return asAny(new ModularSession(parts));
    case 'replay':
      return asAny(new ReplaySession(parts));
    case 'contention':
      return asAny(new ContentionSession(parts));
  }
}

/** A session as the panels hold it; the requests that it answers are checked where they arrive. */
function asAny(session: unknown): AnySession {
  return session as AnySession;
}
