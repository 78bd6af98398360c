import {
  EventEmitter,
  l10n,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeDataProvider,
} from 'vscode';
import type { Lesson, LessonStep } from '../../lab/lesson.ts';
import { commandIds } from '../app/ids.ts';
import type { LessonsSession } from './lessonsSession.ts';

/** A row of the lessons: a lesson, or a step of the one that runs. */
export type LessonNode =
  | { readonly type: 'lesson'; readonly lesson: Lesson }
  | { readonly type: 'step'; readonly lesson: Lesson; readonly step: LessonStep };

/** The lessons and, below the one that runs, its steps. */
export class LessonsTree implements TreeDataProvider<LessonNode> {
  private readonly session: LessonsSession;
  private readonly changed = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(session: LessonsSession) {
    this.session = session;
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  async getChildren(node?: LessonNode): Promise<LessonNode[]> {
    if (node === undefined) return (await this.session.all()).map((lesson) => ({ type: 'lesson', lesson }));
    if (node.type === 'step' || this.session.running?.lesson.id !== node.lesson.id) return [];
    return node.lesson.steps.map((step) => ({ type: 'step', lesson: node.lesson, step }));
  }

  getTreeItem(node: LessonNode): TreeItem {
    return node.type === 'lesson' ? this.lessonItem(node.lesson) : this.stepItem(node.step);
  }

  dispose(): void {
    this.changed.dispose();
  }

  private lessonItem(lesson: Lesson): TreeItem {
    const runs = this.session.running?.lesson.id === lesson.id;
    const passed = this.session.lastReport(lesson.id)?.passed === true;
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
    const running = this.session.running;
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

/** Whether a command was given a row of the lessons. */
export function isLessonNode(value: unknown): value is LessonNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'lesson' in value;
}
