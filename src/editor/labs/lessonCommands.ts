import { readFile, writeFile } from 'node:fs/promises';
import { commands, env, l10n, Uri, ViewColumn, window, workspace, type Disposable, type TerminalOptions } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { inLanguage, type Lesson, type ObjectRef } from '../../lab/lesson.ts';
import type { LessonReport } from '../../lab/lessonRun.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys, viewIds } from '../app/ids.ts';
import { tellSaved } from '../app/savedFile.ts';
import { limited } from '../app/signal.ts';
import { translated } from '../app/translated.ts';
import { liveUri } from '../documents/address.ts';
import { readObject } from '../documents/readObject.ts';
import type { EditorPlaces } from './editorPlaces.ts';
import type { LabPanels } from './labPanels.ts';
import type { LabSessionParts } from './labPlaces.ts';
import { LessonsSession } from './lessonsSession.ts';
import { isLessonNode, LessonsTree } from './lessonsView.ts';

/** Starting a lesson may start the sandbox first. */
const START_LIMIT_MS = 120_000;
const TEXT_WAIT_MS = 15_000;

/** The lessons of this window: one session for the page, the view and the commands. */
export function lessonsOf(editor: Editor, places: EditorPlaces, parts: LabSessionParts): LessonsSession {
  return new LessonsSession({
    ...parts,
    builtIn: async () => (await import('../../lab/lessonFiles.ts')).builtInLessons().map(inOurLanguage),
    tell: (sentence) => void window.showInformationMessage(sentence),
    chooseFile,
    save: (report, format) => save(report, format, parts.onError),
    openObject: (object, signal) => openObject(places, object, signal),
    openTerminal: () => openTerminal(editor, places),
  });
}

/** The view "Lessons" and the commands of lessons. */
export function registerLessons(editor: Editor, session: LessonsSession, panels: LabPanels): Disposable[] {
  const tree = new LessonsTree(session);
  const start = async (lesson: Lesson): Promise<void> => {
    panels.show('lessons');
    await session.start(lesson, limited(START_LIMIT_MS));
  };
  return [
    tree,
    window.createTreeView(viewIds.lessons, { treeDataProvider: tree }),
    session.onDidChange(() => {
      tree.refresh();
      void commands.executeCommand('setContext', contextKeys.lessonRuns, session.running?.step !== undefined);
      for (const { id, state } of session.state().lessons)
        if (state === 'passed') editor.walkthrough.complete(`${contextKeys.lessonPassed}.${id}`);
    }),
    editor.command(commandIds.startLesson, async (node) => start(await chosenLesson(session, node))),
    editor.command(commandIds.labLessonFile, async (file) => {
      panels.show('lessons');
      if (!(file instanceof Uri)) return session.openFile(limited(START_LIMIT_MS));
      return session.openLesson(await lessonIn(file), limited(START_LIMIT_MS));
    }),
    editor.command(commandIds.predictStep, () => predict(session)),
    editor.command(commandIds.checkStep, () => session.check()),
    editor.command(commandIds.solveStep, () => session.solve()),
    editor.command(commandIds.endLesson, () => session.end()),
    editor.command(commandIds.exportLessonReport, () => session.export('json')),
  ];
}

async function chosenLesson(session: LessonsSession, node: unknown): Promise<Lesson> {
  if (isLessonNode(node)) return node.lesson;
  const lessons = await session.all();
  const named = lessons.find((lesson) => lesson.id === node);
  if (named !== undefined) return named;
  const chosen = await window.showQuickPick(
    lessons.map((lesson) => ({ label: lesson.title, detail: lesson.about, lesson })),
    { title: l10n.t('Start Lesson') },
  );
  if (chosen === undefined) throw cancelled();
  return chosen.lesson;
}

/** Asks for the prediction of this step by the keyboard, for those who do without the page. */
async function predict(session: LessonsSession): Promise<void> {
  const step = session.running?.step;
  if (step === undefined) throw new AppError('usage', l10n.t('No lesson runs.'));
  if (step.checks.some((check) => 'labels' in check)) {
    const prompt = l10n.t('The labels in order, with spaces between them');
    const typed = await window.showInputBox({ title: step.title, prompt, ignoreFocusOut: true });
    if (typed === undefined) throw cancelled();
    session.predictLabels(typed.split(/[\s,]+/).filter((word) => word !== ''));
  }
  if (step.predict === undefined) return;
  const { question, choices, answer } = step.predict;
  const options = { title: step.title, placeHolder: question, ignoreFocusOut: true };
  const choice = await window.showQuickPick([...choices], options);
  if (choice === undefined) throw cancelled();
  const sentence = session.predict(choice)
    ? l10n.t('That is what the contract says.')
    : l10n.t('The contract says: {0}.', answer);
  window.setStatusBarMessage(sentence, TEXT_WAIT_MS);
}

function inOurLanguage(lesson: Lesson): Lesson {
  return inLanguage(lesson, env.language);
}

async function chooseFile(): Promise<Lesson> {
  const [file] =
    (await window.showOpenDialog({ title: l10n.t('Open a Lesson File'), filters: { YAML: ['yaml', 'yml'] } })) ?? [];
  if (file === undefined) throw cancelled();
  return lessonIn(file);
}

async function lessonIn(file: Uri): Promise<Lesson> {
  const { readLesson } = await import('../../lab/readLesson.ts');
  return inOurLanguage(readLesson(await readFile(file.fsPath, 'utf8'), file.fsPath));
}

/** Saves a report; the name that the person gives decides between JSON and Markdown. */
async function save(
  report: LessonReport,
  format: 'json' | 'markdown',
  onError: (error: unknown) => void,
): Promise<void> {
  const filters = { json: { JSON: ['json'], Markdown: ['md'] }, markdown: { Markdown: ['md'], JSON: ['json'] } };
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const name = `${report.lesson}.${format === 'json' ? 'json' : 'md'}`;
  const target = await window.showSaveDialog({
    title: l10n.t('Export Lesson Report'),
    filters: filters[format],
    ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, name) }),
  });
  if (target === undefined) throw cancelled();
  const asText = target.fsPath.endsWith('.md') || (format === 'markdown' && !target.fsPath.endsWith('.json'));
  const { lessonReportText } = await import('../../lab/lessonReportText.ts');
  const text = asText ? lessonReportText(report, translated) : `${JSON.stringify(report, undefined, 2)}\n`;
  await writeFile(target.fsPath, text);
  tellSaved(target, onError);
}

/** Opens the object that stands at a name now, beside the lesson. */
async function openObject(places: EditorPlaces, { resource, name }: ObjectRef, signal: AbortSignal): Promise<void> {
  const connected = places.connected();
  if (connected === undefined) return;
  const found = (await connected.discovery(signal)).find(resource);
  const namespace = found.namespaced ? places.current().namespace : '';
  const { group, version, resource: plural, kind, namespaced } = found;
  const target = { group, version, resource: plural, kind, namespaced, namespace, name };
  const { uidOf } = await import('../../lab/labClient.ts');
  const object = await readObject(connected.cluster, target, signal);
  if (object === undefined) throw new AppError('not-found', l10n.t('There is no {0} now.', `${plural}/${name}`));
  const uid = uidOf(object);
  const address = { cluster: connected.key, group, version, resource: plural, kind, namespace, name, uid };
  await commands.executeCommand('vscode.open', liveUri(address), { viewColumn: ViewColumn.Beside });
}

function openTerminal({ clusters }: Editor, places: EditorPlaces): void {
  const { isSandbox, label, namespace } = places.current();
  const file = isSandbox ? clusters.sandboxKubeconfig : undefined;
  const where = isSandbox
    ? l10n.t('kubectl means the sandbox here; the lesson is in the namespace {0}.', namespace)
    : l10n.t('The lesson is in the context {0}, in the namespace {1}.', label, namespace);
  const options: TerminalOptions = { name: label, message: where, env: file === undefined ? {} : { KUBECONFIG: file } };
  // The one of an earlier step has that step's variables and files.
  const earlier = window.terminals.find(
    ({ creationOptions, exitStatus }) =>
      exitStatus === undefined && JSON.stringify(creationOptions) === JSON.stringify(options),
  );
  (earlier ?? window.createTerminal(options)).show();
}
