import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { browserHarness } from './harness.ts';
import { demo } from './scenario.ts';
import { THEMES } from './themes.ts';
import { TimelineDriver } from './timelineDriver.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const CONFLICT = demo().events.findIndex((event) => event.type === 'write' && event.outcome === 'version-conflict') + 1;

/** What axe finds, as lines: the rule and where. */
async function findingsOfAxe(page: TimelineDriver): Promise<string[]> {
  const source = await readFile(AXE, 'utf8');
  // Evaluated by the debugger, so the page's content policy is not in the way.
  await page.page.evaluate(source);
  return page.page.evaluate(async () => {
    const axe = (
      window as unknown as {
        axe: {
          run(): Promise<{ violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[] }>;
        };
      }
    ).axe;
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id} ${String(node.target)} ${node.failureSummary ?? ''}`),
    );
  });
}

describe('looks of the timeline', function () {
  this.timeout(30_000);
  const shown = browserHarness();

  it('where the system forces its colours, shapes and bars keep those of the theme', async () => {
    const page = await TimelineDriver.open(shown.harness, { theme: 'high-contrast', height: 760 });
    const chart = (): Promise<Buffer> => page.page.locator('.chart').screenshot();
    const before = await chart();
    await page.page.emulateMedia({ forcedColors: 'active' });
    await page.page.evaluate(() => document.body.classList.add('taken-up-anew'));
    await page.frame();
    assert.ok(before.equals(await chart()));
    await page.screenshot('timeline-forced-colors');
  });

  for (const theme of THEMES) {
    it(`axe finds nothing to complain about in ${theme.name}, with details, table and replay open`, async () => {
      const page = await TimelineDriver.open(shown.harness, { theme: theme.name, height: 760 });
      assert.deepEqual(await findingsOfAxe(page), []);
      await page.screenshot(`timeline-${theme.name}-overview`);
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      await page.focusChart();
      await page.press('t');
      assert.deepEqual(await findingsOfAxe(page), []);
      await page.screenshot(`timeline-${theme.name}-table`);
      await page.focusChart();
      await page.press('r', '?');
      assert.deepEqual(await findingsOfAxe(page), []);
      await page.assertClean();
      await page.page.close();
    });
  }

  for (const theme of THEMES) {
    it(`axe finds nothing to complain about in ${theme.name}, with lanes of actors and one of them open`, async () => {
      const page = await TimelineDriver.open(shown.harness, { theme: theme.name, height: 760 });
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      await page.focusChart();
      await page.press('e');
      assert.deepEqual(await findingsOfAxe(page), []);
      await page.screenshot(`timeline-${theme.name}-tracks`);
      await page.press('g', 'e');
      assert.deepEqual(await findingsOfAxe(page), []);
      await page.screenshot(`timeline-${theme.name}-actors`);
      await page.assertClean();
      await page.page.close();
    });
  }

  it('in a narrow editor the details lie beside the toolbar, not over it', async () => {
    const page = await TimelineDriver.open(shown.harness, { width: 620, height: 560 });
    const lost = demo().findings.find(({ id }) => id === 'lost-update');
    await page.page.evaluate((seq) => window.testHost.reveal(seq, 'lost-update'), lost?.events.at(-1) ?? 0);
    await page.detailsSay('Finding: lost-update');
    const [details, toolbar] = await Promise.all(
      ['.details', '.header'].map((selector) => page.page.locator(selector).boundingBox()),
    );
    assert.ok(details && toolbar);
    assert.ok(details.y >= toolbar.y + toolbar.height, 'below the toolbar');
    assert.ok(Math.abs(details.x + details.width - 620) < 1 && details.width >= 280, 'at the right edge');
    await page.screenshot('timeline-narrow-finding');
    await page.assertClean();
    await page.page.close();
  });

  for (const width of [600, 700]) {
    it(`at ${width} pixels the findings lie below the lanes, with all their words, and the legend is a menu of words`, async () => {
      const page = await TimelineDriver.open(shown.harness, { width, height: 800 });
      const boxOf = async (selector: string): Promise<{ x: number; y: number; width: number; height: number }> =>
        (await page.page.locator(selector).boundingBox()) ?? assert.fail(`${selector} is not seen`);
      const [details, chart] = [await boxOf('.details'), await boxOf('.chart')];
      assert.ok(details.y >= chart.y + chart.height && details.width === width && chart.height > 250);
      assert.match(await page.details(), /lost update: \.data\.dark[\s\S]*still holds uid 9a01d2e4/);
      assert.equal(await page.page.locator('.legend').isVisible(), false);
      await page.page.locator('.legend-menu > button').click();
      const items = await page.page.locator('.menu-item').allInnerTexts();
      assert.deepEqual(items.slice(0, 4), ['spec', 'status', 'metadata', 'conflict']);
      await page.page.locator('.menu-item', { hasText: /^conflict$/ }).click();
      assert.equal(await page.page.locator('.filter').inputValue(), 'is:conflict');
      assert.deepEqual(await findingsOfAxe(page), []);
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      await page.screenshot(`timeline-${width}`);
      await page.assertClean();
      await page.page.close();
    });
  }

  it('names in the details are whole where a line has room for them', async () => {
    const page = await TimelineDriver.open(shown.harness, { height: 760 });
    await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
    await page.detailsSay('Who made progress');
    const broken = await page.page.evaluate(() => {
      const room = document.querySelector('.details .columns')?.clientWidth ?? 0;
      return Array.from(document.querySelectorAll('.details .unbroken'))
        .filter((name) => name.getBoundingClientRect().width < room - 100 && name.getClientRects()[0]!.height > 24)
        .map((name) => name.textContent);
    });
    assert.deepEqual(broken, []);
    await page.page.close();
  });

  it('a change of the theme is drawn at once', async () => {
    const page = await TimelineDriver.open(shown.harness);
    const corner = (): Promise<number[]> =>
      page.page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('canvas.base');
        return Array.from(canvas?.getContext('2d')?.getImageData(400, 500, 1, 1).data ?? []);
      });
    assert.deepEqual((await corner()).slice(0, 3), [31, 31, 31]);
    await page.page.evaluate(() => {
      document.documentElement.style.setProperty('--vscode-editor-background', '#fff8e0');
      document.body.className = 'vscode-light';
    });
    await page.frame();
    assert.deepEqual((await corner()).slice(0, 3), [255, 248, 224]);
    await page.page.close();
  });

  it('at 200 % zoom everything can be reached: nothing is cut off, details lie over the edge', async () => {
    const page = await TimelineDriver.open(shown.harness, { width: 640, height: 400, scale: 2 });
    assert.ok(await page.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
    await page.detailsSay('Who made progress');
    await page.screenshot('timeline-zoom-200');
    const box = await page.page.locator('.details').boundingBox();
    assert.ok(box !== null && box.x + box.width <= 640.5 && box.width > 200);
    await page.page.locator('.details .close').click();
    await page.frame();
    assert.equal(await page.page.locator('.details').isVisible(), false);
    await page.page.locator('.overview-button', { hasText: '3 findings' }).click();
    await page.detailsSay('lost update: .data.dark');
    assert.ok(await page.page.locator('.details').isVisible());
    assert.deepEqual(await findingsOfAxe(page), []);
    await page.screenshot('timeline-zoom-200-findings');
    await page.page.locator('.details li button').first().click();
    await page.detailsSay('Finding: lost-update');
    await page.focusChart();
    await page.press('Escape');
    assert.match(await page.details(), /What happened/);
    await page.press('Escape');
    assert.equal(await page.page.locator('.details').isVisible(), false);
    await page.page.close();
  });

  it('on a screen with twice the pixels the canvas has twice the pixels', async () => {
    const page = await TimelineDriver.open(shown.harness, { scale: 2 });
    const ratio = await page.page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('canvas.base');
      return canvas === null ? 0 : canvas.width / canvas.clientWidth;
    });
    assert.equal(ratio, 2);
    await page.page.close();
  });

  it('with a screen reader the table is there from the start', async () => {
    const page = await TimelineDriver.open(shown.harness, { bodyClass: 'vscode-using-screen-reader' });
    assert.ok(await page.page.locator('[role="grid"]').isVisible());
    await page.page.close();
  });

  it('with reduced motion nothing is animated', async () => {
    const page = await TimelineDriver.open(shown.harness, { reducedMotion: true, bodyClass: 'vscode-reduce-motion' });
    const animated = await page.page.evaluate(
      () =>
        Array.from(document.querySelectorAll('*')).filter(
          (one) => getComputedStyle(one).transitionDuration !== '0s' || getComputedStyle(one).animationName !== 'none',
        ).length,
    );
    assert.equal(animated, 0);
    await page.page.close();
  });

  it('a hundred lanes: that there are more of them is seen, and one event is told in the singular', async () => {
    const page = await TimelineDriver.open(shown.harness, { empty: true });
    const seen = (name: string): object => ({
      type: 'observed',
      at: 1_800_000_000_000,
      via: 'watch',
      stream: 's',
      change: 'ADDED',
      cluster: 'c',
      name: { group: '', resource: 'configmaps', namespace: 'n', name },
      uid: `uid-${name}`,
      token: name,
    });
    const scrolled = (): Promise<number> =>
      page.page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('canvas.overlay');
        const data = canvas?.getContext('2d')?.getImageData(canvas.width - 4, 2, 1, canvas.height - 4).data ?? [];
        return Array.from(data).findIndex((value, index) => index % 4 === 3 && value > 0);
      });
    await page.page.evaluate((one) => window.testHost.append([one] as never), seen('object-0'));
    await page.page.locator('.counts', { hasText: /^1 object, 1 event$/ }).waitFor({ timeout: 3000 });
    assert.equal(await scrolled(), -1);
    const more = Array.from({ length: 99 }, (_, index) => seen(`object-${index + 1}`));
    await page.page.evaluate((all) => window.testHost.append(all as never), more);
    await page.page.locator('.row.group', { hasText: '100' }).waitFor({ timeout: 3000 });
    await page.frame();
    assert.ok((await scrolled()) < 40, 'at the top');
    await page.page.locator('.rows').focus();
    await page.press('End');
    assert.ok((await scrolled()) > 400, 'further down');
    await page.screenshot('timeline-hundred-lanes');
    await page.page.close();
  });

  it('an empty timeline says so', async () => {
    const page = await TimelineDriver.open(shown.harness, { empty: true });
    assert.equal(await page.page.locator('.empty').innerText(), 'Nothing has been seen yet.');
    assert.deepEqual(await findingsOfAxe(page), []);
    await page.screenshot('timeline-empty');
    await page.page.close();
  });
});
