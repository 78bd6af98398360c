import { writeFile } from 'node:fs/promises';
import {
  commands,
  EventEmitter,
  l10n,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  window,
  type Disposable,
  type TreeDataProvider,
} from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { Lesson, LessonStep } from '../../lab/lesson.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys, viewIds } from '../app/ids.ts';
import { LessonPlayer } from './lessonPlayer.ts';

/** A row of the lessons: a lesson, or a step of the one that runs. */
export type LessonNode =
  | { readonly type: 'lesson'; readonly lesson: Lesson }
  | { readonly type: 'step'; readonly lesson: Lesson; readonly step: LessonStep };

/** The lessons and, below the one that runs, its steps. */
class LessonsTree implements TreeDataProvider<LessonNode> {
  private readonly player: LessonPlayer;
  private readonly changed = new EventEmitter<undefined>();
  private lessons: readonly Lesson[] | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(player: LessonPlayer) {
    this.player = player;
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  async all(): Promise<readonly Lesson[]> {
    if (this.lessons === undefined) {
      const { builtInLessons } = await import('../../lab/lessonFiles.ts');
      this.lessons = builtInLessons();
    }
    return this.lessons;
  }

  async getChildren(node?: LessonNode): Promise<LessonNode[]> {
    if (node === undefined) return (await this.all()).map((lesson) => ({ type: 'lesson', lesson }));
    if (node.type === 'step' || this.player.running?.lesson.id !== node.lesson.id) return [];
    return node.lesson.steps.map((step) => ({ type: 'step', lesson: node.lesson, step }));
  }

  getTreeItem(node: LessonNode): TreeItem {
    return node.type === 'lesson' ? this.lessonItem(node.lesson) : this.stepItem(node.step);
  }

  dispose(): void {
    this.changed.dispose();
  }

  private lessonItem(lesson: Lesson): TreeItem {
    const runs = this.player.running?.lesson.id === lesson.id;
    const passed = this.player.lastReport(lesson.id)?.passed === true;
    const made = new TreeItem(lesson.title, runs ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None);
    made.id = `${lesson.id}${runs ? '/running' : ''}`;
    made.tooltip = lesson.about;
    made.description = runs ? l10n.t('running') : passed ? l10n.t('passed') : '';
    made.iconPath = passed
      ? new ThemeIcon('pass', new ThemeColor('testing.iconPassed'))
      : new ThemeIcon(runs ? 'debug-start' : 'mortar-board');
    made.contextValue = runs ? 'lesson running' : 'lesson';
    made.accessibilityInformation = {
      label: [lesson.title, made.description].filter((part) => part !== '').join(', '),
    };
    if (!runs)
      made.command = {
        command: commandIds.startLesson,
        title: l10n.t('Start Lesson'),
        arguments: [{ type: 'lesson', lesson } satisfies LessonNode],
      };
    return made;
  }

  private stepItem(step: LessonStep): TreeItem {
    const running = this.player.running;
    const report = running?.report.steps.find(({ id }) => id === step.id);
    const isCurrent = running?.step?.id === step.id;
    const made = new TreeItem(step.title, TreeItemCollapsibleState.None);
    made.id = `step/${step.id}`;
    made.tooltip = step.task;
    made.description =
      report?.passed === true ? (report.shown ? l10n.t('shown') : l10n.t('passed')) : isCurrent ? l10n.t('now') : '';
    made.iconPath = new ThemeIcon(report?.passed === true ? 'pass' : isCurrent ? 'arrow-right' : 'circle-outline');
    made.contextValue = isCurrent ? 'step current' : 'step';
    made.accessibilityInformation = { label: [step.title, made.description].filter((part) => part !== '').join(', ') };
    return made;
  }
}

/** The view "Lessons" and its commands. */
export function registerLessons(editor: Editor): Disposable[] {
  const player = new LessonPlayer(editor);
  const tree = new LessonsTree(player);
  return [
    player,
    tree,
    window.createTreeView(viewIds.lessons, { treeDataProvider: tree }),
    player.onDidChange(() => {
      tree.refresh();
      void commands.executeCommand('setContext', contextKeys.lessonRuns, player.running?.step !== undefined);
    }),
    editor.command(commandIds.startLesson, async (node) => {
      const lesson = await chosenLesson(tree, node);
      await player.start(lesson);
    }),
    editor.command(commandIds.predictStep, () => player.predict()),
    editor.command(commandIds.checkStep, () => player.check()),
    editor.command(commandIds.solveStep, () => player.solve()),
    editor.command(commandIds.endLesson, () => player.end()),
    editor.command(commandIds.exportLessonReport, () => exportReport(player)),
  ];
}

async function chosenLesson(tree: LessonsTree, node: unknown): Promise<Lesson> {
  if (typeof node === 'object' && node !== null && 'type' in node && node.type === 'lesson' && 'lesson' in node)
    return node.lesson as Lesson;
  const lessons = await tree.all();
  const named = lessons.find((lesson) => lesson.id === node);
  if (named !== undefined) return named;
  const chosen = await window.showQuickPick(
    lessons.map((lesson) => ({ label: lesson.title, detail: lesson.about, lesson })),
    { title: l10n.t('Start Lesson') },
  );
  if (chosen === undefined) throw new AppError('cancelled', l10n.t('No lesson was chosen.'));
  return chosen.lesson;
}

async function exportReport(player: LessonPlayer): Promise<void> {
  const running = player.running;
  if (running === undefined)
    throw new AppError('usage', l10n.t('No lesson runs.'), { advice: l10n.t('Start one in the view "Lessons".') });
  const target = await window.showSaveDialog({ title: l10n.t('Export Lesson Report'), filters: { JSON: ['json'] } });
  if (target !== undefined) await writeFile(target.fsPath, `${JSON.stringify(running.report, undefined, 2)}\n`);
}
