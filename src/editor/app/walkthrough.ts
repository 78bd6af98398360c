import { commands } from 'vscode';
import type { Clock } from '../../base/clock.ts';

/** How long VS Code takes to begin to watch for what completes the steps, once the walkthrough is open. */
const BEGIN_MS = 1000;

/**
 * The walkthrough of the lessons. VS Code takes a step for done when the key of a `when` clause that it names becomes true,
 * but watches for that only once a walkthrough was opened in the window: what is true before is never taken.
 */
export class Walkthrough {
  private readonly done = new Set<string>();
  private readonly id: string;
  private readonly clock: Clock;

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
      await commands.executeCommand('workbench.action.openWalkthrough', this.id, false);
      await this.clock.delay(BEGIN_MS, new AbortController().signal);
    } finally {
      await Promise.all(keys.map((key) => setKey(key, true)));
    }
  }
}

function setKey(key: string, value: boolean): Thenable<unknown> {
  return commands.executeCommand('setContext', key, value);
}
