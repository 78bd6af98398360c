import { commands, version, window } from 'vscode';
import type { Clock } from '../../base/clock.ts';

/** How long VS Code takes to begin to watch for what completes the steps, once the walkthrough is open. */
const BEGIN_MS = 1000;

/**
 * Whether VS Code shows its own walkthrough when another one is the first page of a first session, because it does not know
 * others yet: 1.103 does, 1.139 does not, and those between were not tried.
 */
const showsItsOwnFirst = Number(version.split('.')[1]) < 139;

/**
 * The walkthrough of the lessons. VS Code takes a step for done when the key of a `when` clause that it names becomes true,
 * but watches for that only once a walkthrough was opened in the window: what is true before is never taken.
 */
export class Walkthrough {
  private readonly done = new Set<string>();
  private readonly id: string;
  private readonly clock: Clock;
  private wasOpened = false;

  /** @param id as VS Code calls it: `<extension>#<walkthrough>` */
  constructor(id: string, clock: Clock) {
    this.id = id;
    this.clock = clock;
  }

  /** The step that names this key is done. */
  complete(key: string): void {
    if (this.done.has(key)) return;
    this.done.add(key);
    void setKey(key, true);
  }

  /** Opens it, with what was done before in this window done. */
  async open(): Promise<void> {
    const keys = [...this.done];
    await Promise.all(keys.map((key) => setKey(key, false)));
    try {
      await this.show();
      if (showsItsOwnFirst && !this.wasOpened) {
        const { activeTab } = window.tabGroups.activeTabGroup;
        // VS Code's own pages are of no kind that an extension knows; a person may have gone on to another tab.
        if (activeTab !== undefined && activeTab.input === undefined) await window.tabGroups.close(activeTab);
        await this.show();
      }
      this.wasOpened = true;
    } finally {
      await Promise.all(keys.map((key) => setKey(key, true)));
    }
  }

  private async show(): Promise<void> {
    await commands.executeCommand('workbench.action.openWalkthrough', this.id, false);
    await this.clock.delay(BEGIN_MS, new AbortController().signal);
  }
}

function setKey(key: string, value: boolean): Thenable<unknown> {
  return commands.executeCommand('setContext', key, value);
}
