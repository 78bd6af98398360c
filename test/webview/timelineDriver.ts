import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { demo } from './scenario.ts';
import type { PageOptions, WebviewHarness } from './harness.ts';

export const SCREENSHOTS = join(import.meta.dirname, '../../out/screenshots');

/** A page with the timeline of the demo in it, and the few things that tests do with it. */
export class TimelineDriver {
  readonly page: Page & { pageErrors: string[] };

  constructor(page: Page & { pageErrors: string[] }) {
    this.page = page;
  }

  /** Opens the demo, or an empty timeline. */
  static async open(harness: WebviewHarness, options: PageOptions & { empty?: boolean } = {}): Promise<TimelineDriver> {
    const page = await harness.open({ ...options, test: { hasCluster: false, ...options.test } });
    const driver = new TimelineDriver(page);
    await page.waitForFunction(() => window.testHost.received.includes('ready'));
    if (options.empty !== true) {
      await page.evaluate(({ events, findings }) => {
        window.testHost.append(events);
        window.testHost.setFindings(findings);
      }, demo() as never);
      await page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length >= 1);
    }
    await driver.frame();
    return driver;
  }

  /** Waits until what was touched is drawn. */
  async frame(): Promise<void> {
    await this.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
    await this.frame();
  }

  async focusChart(): Promise<void> {
    await this.page.locator('.chart').focus();
  }

  /** The words of the details panel. */
  details(): Promise<string> {
    return this.page.locator('.details').innerText();
  }

  /** Waits for words in the details panel. */
  async detailsSay(words: string): Promise<void> {
    await this.page.locator('.details', { hasText: words }).waitFor({ timeout: 3000 });
  }

  /** What a screen reader was told last. */
  async summary(): Promise<string> {
    return (await this.page.locator('.sr-only[role="status"]').textContent()) ?? '';
  }

  rows(): Promise<string[]> {
    return this.page.locator('.row:not([hidden]) .name').allTextContents();
  }

  calls(): Promise<{ method: string; params: unknown }[]> {
    return this.page.evaluate(() => window.testHost.calls);
  }

  /** What the view keeps while it is hidden: also what it shows. */
  async kept(): Promise<{ from: number; to: number; top: number; filter: string; live: boolean; event?: number }> {
    await this.page.waitForTimeout(350);
    return (await this.page.evaluate(() => window.testHost.kept)) as never;
  }

  /** The words of the button that says how much is shown. */
  shown(): Promise<string> {
    return this.page.locator('.menu > button').first().innerText();
  }

  /** The place of a lane's row on the page. */
  async lane(name: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const row = await this.page
      .locator('.row.lane', { has: this.page.locator('.name', { hasText: new RegExp(`^${name}$`) }) })
      .boundingBox();
    const chart = await this.page.locator('.chart').boundingBox();
    assert.ok(row !== null && chart !== null, `there is no lane ${name}`);
    return { x: chart.x, y: row.y, width: chart.width, height: row.height };
  }

  /** The x of a time on the page. */
  async xOf(at: number): Promise<number> {
    const { from, to } = await this.kept();
    const chart = await this.page.locator('.chart').boundingBox();
    assert.ok(chart !== null);
    return chart.x + ((at - from) / (to - from)) * chart.width;
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  /** Nothing went wrong in the page, for the host, or with the content policy. */
  async assertClean(): Promise<void> {
    const { problems, violations } = await this.page.evaluate(() => ({
      problems: window.testHost.problems,
      violations: window.testHost.violations,
    }));
    assert.deepEqual(
      { errors: this.page.pageErrors, problems, violations },
      { errors: [], problems: [], violations: [] },
    );
  }
}
