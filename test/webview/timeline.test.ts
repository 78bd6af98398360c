import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { browserHarness } from './harness.ts';
import { demoModel } from '../core/timeline/demoModel.ts';
import { demo, START } from './scenario.ts';
import { TimelineDriver } from './timelineDriver.ts';

const CONFLICT = demo().events.findIndex((event) => event.type === 'write' && event.outcome === 'version-conflict') + 1;
const CONFLICT_AT = START + 249_482;
const MARKS = demoModel().marks.at.length;

describe('timeline in a browser', function () {
  this.timeout(30_000);
  const shown = browserHarness();
  let timeline: TimelineDriver | undefined;

  afterEach(async () => {
    await timeline?.page.close();
    timeline = undefined;
  });

  async function open(
    ...options: Parameters<typeof TimelineDriver.open> extends [unknown, ...infer Rest] ? Rest : never
  ): Promise<TimelineDriver> {
    timeline = await TimelineDriver.open(shown.harness, ...options);
    return timeline;
  }

  it('lanes that nobody watches and nothing happened on are one row that says how many, and opens them', async () => {
    const page = await open({ empty: true });
    const seen = (resource: string, name: string, via: 'watch' | 'sandbox'): object => ({
      type: 'observed',
      at: START,
      via,
      cluster: 'c',
      name: { group: '', resource, namespace: 'n', name },
      uid: `uid-${resource}-${name}`,
      token: name,
    });
    const events = [
      seen('configmaps', 'mine', 'watch'),
      seen('configmaps', 'other', 'sandbox'),
      ...['a', 'b', 'c'].map((name) => seen('pods', name, 'sandbox')),
    ];
    await page.page.evaluate((all) => window.testHost.append(all as never), events);
    await page.page.waitForFunction(() => document.querySelectorAll('.row:not([hidden])').length === 4);
    assert.deepEqual(await page.rows(), [
      'kind-dev / CONFIGMAPS',
      'mine',
      '1 more, folded: nothing stood out',
      'kind-dev / PODS',
    ]);
    const pods = page.page.locator('.row.group').last();
    assert.match(await pods.innerText(), /PODS\s+· folded\s+3/);
    assert.match((await pods.getAttribute('title')) ?? '', /nothing was refused, recreated or found on them/);
    await page.page.locator('.row.more').click();
    await page.page.locator('.row.group').last().click();
    await page.frame();
    assert.deepEqual((await page.rows()).slice(1), ['mine', 'other', 'kind-dev / PODS', 'a', 'b', 'c']);
    await page.assertClean();
  });

  it('findings that say the same of one object are one entry with how often and when before', async () => {
    const page = await open();
    const { findings } = demo();
    const [lost] = findings.filter(({ id }) => id === 'lost-update');
    assert.ok(lost);
    const again = { ...lost, lastAt: lost.lastAt + 60_000, count: 2, events: lost.events.slice(-1) };
    await page.page.evaluate((all) => window.testHost.setFindings(all as never), [...findings, again]);
    const entry = page.page.locator('.overview li', { hasText: 'lost update: .data.dark' });
    await entry.locator('.occurrence').waitFor({ timeout: 3000 });
    assert.equal(await entry.count(), 1);
    assert.match(await entry.innerText(), /×3 · 14:05:33[\s\S]*14:04:33/);
    await entry.locator('.occurrence').click();
    await page.detailsSay('flag-sync put .data.dark back');
    await page.assertClean();
  });

  it('shows lanes in groups, and the findings to begin with, without a word from the content policy', async () => {
    const page = await open();
    assert.deepEqual(await page.rows(), [
      'kind-dev / BUCKETCLAIMS (example.org/v1)',
      'invoices',
      'thumbnails',
      'kind-dev / CONFIGMAPS',
      'feature-flags',
      'kind-dev / DEPLOYMENTS',
      'checkout',
      'search',
      'kind-dev / LEASES',
      'leader',
    ]);
    const words = await page.details();
    for (const wanted of [
      'lost update: .data.dark',
      '14 conflicts in 1 min 40 s, no backoff',
      'still holds uid 9a01d2e4',
      '3 incarnations',
    ])
      assert.ok(words.includes(wanted), wanted);
    await page.assertClean();
  });

  it('what nobody saw is listed with its times, and shown where it is', async () => {
    const page = await open();
    const entry = page.page.locator('.overview section', { hasText: 'Not observed' }).locator('button');
    assert.match(
      await entry.innerText(),
      /^▨\s*configmaps\s*not observed · relist after 410 · 14:0\d:\d\d – 14:0\d:\d\d$/,
    );
    await page.focusChart();
    await page.press('w', 'w', 'w', 'd', 'd', 'd', 'd', 'd');
    await entry.click();
    await page.frame();
    const [, from = '', to = ''] = /(14:\d\d:\d\d) – (14:\d\d:\d\d)/.exec(await entry.innerText()) ?? [];
    const shown = await page.kept();
    for (const at of [from, to]) {
      const time = Date.parse(`2026-11-29T${at}Z`);
      assert.ok(time >= shown.from - 1000 && time <= shown.to + 1000, at);
    }
    await page.assertClean();
  });

  it('a revealed conflict is selected, told, and explained with badges that are not the same', async () => {
    const page = await open();
    await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
    await page.detailsSay('Who made progress');
    assert.match(await page.summary(), /version conflict, Deployment shop\/checkout, scaler/);
    const badges = await page.page.locator('.details .badge').allTextContents();
    assert.equal(new Set(badges).size, 2);
    assert.match(
      await page.details(),
      /not the same[\s\S]*same incarnation[\s\S]*none: \.spec\.replicas is untouched[\s\S]*written at attempt 2/,
    );
  });

  it('a revealed finding is said before the event that proves it, though the event has a mark of its own', async () => {
    const page = await open();
    const { findings } = demo();
    const lost = findings.find(({ id }) => id === 'lost-update');
    const event = lost?.events.at(-1);
    assert.ok(lost !== undefined && event !== undefined);
    await page.page.evaluate((seq) => window.testHost.reveal(seq, 'lost-update'), event);
    await page.detailsSay(lost.explanation);
    const words = await page.details();
    const places = ['Finding: lost-update', lost.explanation, 'What to do', lost.remedy ?? '?', 'Evidence'].map(
      (part) => words.indexOf(part),
    );
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.ok(
      places.every((place) => place >= 0 && place < words.indexOf('Spec changed')),
      words,
    );
    await page.page.locator('.details .finding .related button').first().click();
    await page.frame();
    await page.detailsSay(lost.explanation);
    await page.assertClean();
  });

  describe('by keyboard', () => {
    it('arrows go from event to event and from lane to lane, Home and End to the ends', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('ArrowDown', 'Home');
      assert.match(await page.summary(), /^created, BucketClaim shop\/invoices/);
      await page.press('ArrowRight');
      assert.match(await page.summary(), /^status changed, BucketClaim shop\/invoices, bucket-controller/);
      await page.press('ArrowLeft');
      assert.match(await page.summary(), /^created, BucketClaim shop\/invoices/);
      await page.press('End', 'ArrowDown');
      assert.match(await page.summary(), /BucketClaim shop\/thumbnails/);
      await page.press('ArrowUp');
      assert.match(await page.summary(), /BucketClaim shop\/invoices/);
      await page.assertClean();
    });

    it('Shift with an arrow measures from event to event and back, which is said; Enter zooms, Escape clears', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('ArrowDown', 'Home');
      const selected = await page.summary();
      const { event } = await page.kept();
      await page.press('Shift+ArrowRight');
      const once = await page.summary();
      assert.equal(once, '14.0 s · 5 events · Enter zooms');
      await page.press('Shift+ArrowRight');
      assert.match(await page.summary(), /^2 min 4 s · \d+ events · Enter zooms$/);
      await page.screenshot('timeline-measure-keys');
      await page.press('Shift+ArrowLeft');
      assert.equal(await page.summary(), once);
      assert.equal((await page.kept()).event, event);
      await page.press('Escape');
      assert.equal(await page.summary(), selected);
      await page.press('Shift+ArrowRight', 'Shift+ArrowRight', 'Enter');
      const { from, to } = await page.kept();
      assert.deepEqual([from, to], [START + 48_000, START + 172_000]);
      await page.assertClean();
    });

    it('N and P go from finding to finding', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('n');
      assert.match(await page.summary(), /^still holds uid/);
      await page.press('n');
      assert.match(await page.summary(), /^lost update/);
      await page.press('p', 'p');
      assert.match(await page.summary(), /^14 conflicts/);
    });

    it('W and S zoom, A and D pan, F shows everything', async () => {
      const page = await open();
      const whole = await page.kept();
      await page.focusChart();
      await page.press('w', 'w');
      const near = await page.kept();
      assert.ok(near.to - near.from < (whole.to - whole.from) * 0.6);
      await page.press('d');
      const later = await page.kept();
      assert.ok(later.from > near.from);
      assert.ok(Math.abs(later.to - later.from - (near.to - near.from)) < 1);
      await page.press('a', 's', 's');
      await page.press('f');
      const again = await page.kept();
      assert.deepEqual([again.from, again.to], [whole.from, whole.to]);
    });

    it('Enter goes to the details, Escape takes the selection back', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('ArrowDown', 'Enter');
      assert.equal(await page.page.evaluate(() => document.activeElement?.className), 'details has-selection');
      await page.press('Escape');
      await page.detailsSay('What happened');
      assert.equal(await page.summary(), '');
      assert.equal(await page.page.evaluate(() => document.activeElement?.className), 'chart');
    });

    it('slash goes to the filter, where letters are letters', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('/');
      await page.page.keyboard.type('name:search fwasd');
      await page.frame();
      assert.equal(await page.page.locator('.filter').inputValue(), 'name:search fwasd');
      assert.deepEqual(
        (await page.rows()).filter((row) => !row.includes('/')),
        ['search'],
      );
      await page.press('Escape');
      assert.equal((await page.rows()).length, 10);
    });

    it('the names are a tree: arrows move, Left folds a group, Right opens it, Enter selects', async () => {
      const page = await open();
      await page.page.locator('.rows').focus();
      await page.press('ArrowLeft');
      assert.equal((await page.rows()).includes('invoices'), false);
      await page.press('ArrowRight', 'ArrowDown', 'Enter');
      assert.match(await page.summary(), /BucketClaim shop\/invoices/);
      const active = await page.page.locator('.rows').getAttribute('aria-activedescendant');
      assert.equal(await page.page.locator(`#${active} .name`).textContent(), 'invoices');
    });

    it('E gives each actor of an object a row, where arrows stay; G makes lanes of actors, E opens their objects', async () => {
      const page = await open();
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      await page.focusChart();
      await page.press('e');
      const rows = await page.rows();
      const at = rows.indexOf('checkout');
      assert.deepEqual(rows.slice(at + 1, at + 5), ['deployment-controller', 'kubectl-edit', 'labeller', 'scaler']);
      await page.press('ArrowDown', 'ArrowDown', 'End', 'ArrowLeft', 'ArrowRight');
      assert.match(await page.summary(), /Deployment shop\/checkout, kubectl-edit/);
      const selected = page.page.locator('.row.track[aria-selected="true"]');
      assert.equal(await selected.getAttribute('aria-level'), '3');
      assert.match((await selected.getAttribute('aria-label')) ?? '', /^kubectl-edit: \d+ events?/);
      await page.page.locator('.rows').focus();
      await page.press('Home');
      await page.focusChart();
      await page.press('e');
      assert.equal((await page.rows()).includes('kubectl-edit'), false);
      await page.press('g');
      const actors = await page.rows();
      assert.ok(actors.includes('kubectl-edit') && !actors.includes('checkout'), actors.join());
      assert.equal(await page.page.locator('.rows').getAttribute('aria-label'), 'Actors');
      await page.press('e');
      assert.ok((await page.rows()).includes('Deployment checkout'));
      const kept = (await page.kept()) as unknown as { grouping: string; expanded: string[] };
      assert.deepEqual([kept.grouping, kept.expanded], ['actor', ['actor kubectl-edit']]);
      await page.assertClean();
    });

    it('in the tree Right gives a lane rows for its actors, Left takes them away and goes up', async () => {
      const page = await open();
      await page.page.locator('.rows').focus();
      await page.press('ArrowDown', 'ArrowRight', 'ArrowDown');
      const active = async (): Promise<string> => {
        const id = await page.page.locator('.rows').getAttribute('aria-activedescendant');
        return (await page.page.locator(`#${id} .name`).textContent()) ?? '';
      };
      assert.equal(await active(), 'bucket-controller');
      await page.press('ArrowLeft');
      assert.equal(await active(), 'invoices');
      await page.press('ArrowLeft');
      assert.equal((await page.rows()).includes('bucket-controller'), false);
      await page.page.locator('.row.lane .twist').first().click();
      await page.frame();
      assert.ok((await page.rows()).includes('bucket-controller'));
      await page.assertClean();
    });

    it('a gap is a row of the table where it began: it is brought into sight, and arrows go on from it', async () => {
      const page = await open();
      await page.page.locator('.filter').fill('kind:ConfigMap');
      await page.focusChart();
      await page.press('t', 'w', 'w', 'w', 'Home');
      await page.page.locator('[role="grid"]').focus();
      const gap = page.page.locator('.grid-row:not([hidden])', { hasText: 'not observed' });
      for (let step = 0; step < 100; step += 1) {
        if ((await page.page.locator('.grid-row.active').innerText()).includes('not observed')) break;
        await page.press('ArrowDown');
      }
      assert.match(await gap.innerText(), /configmaps\nnot observed\nrelist after 410 · until \d\d:\d\d:\d\d/);
      const active = await page.page.locator('[role="grid"]').getAttribute('aria-activedescendant');
      assert.equal(active, await gap.getAttribute('id'));
      const { from, to } = await page.kept();
      const [{ from: began, to: ended } = assert.fail()] = demo().events.filter((event) => event.type === 'gap');
      assert.ok(from <= began && (ended ?? began) <= to, 'the whole gap is in sight');
      await page.press('ArrowDown');
      assert.doesNotMatch(await page.page.locator('.grid-row.active').innerText(), /not observed/);
      await page.press('ArrowUp');
      assert.match(await page.page.locator('.grid-row.active').innerText(), /not observed/);
      await page.screenshot('timeline-gap-table');
      await page.assertClean();
    });

    it('T opens the table of the same events: arrows move, Right opens a folded run, Enter goes to the details', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('t');
      await page.frame();
      const grid = page.page.locator('[role="grid"]');
      const before = Number(await grid.getAttribute('aria-rowcount'));
      await page.press('Home');
      for (let step = 0; step < 200; step += 1) {
        if ((await page.page.locator('.grid-row.active').innerText()).includes('×')) break;
        await page.press('ArrowDown');
      }
      assert.match(await page.page.locator('.grid-row.active').innerText(), /renewed × 50/);
      const refused = page.page.locator('.grid-row', { hasText: 'version conflict' }).first();
      for (let step = 0; step < 400 && !(await refused.isVisible()); step += 1) await page.press('PageDown');
      assert.match(await refused.innerText(), /made progress first/);
      await page.press('Home');
      for (let step = 0; step < 200; step += 1) {
        if ((await page.page.locator('.grid-row.active').innerText()).includes('×')) break;
        await page.press('ArrowDown');
      }
      await page.press('ArrowRight');
      assert.equal(Number(await grid.getAttribute('aria-rowcount')), before + 49);
      await page.press('ArrowLeft');
      assert.equal(Number(await grid.getAttribute('aria-rowcount')), before);
      await page.press('Enter');
      await page.detailsSay('Renewed');
      assert.match((await page.page.evaluate(() => document.activeElement?.className)) ?? '', /details/);
      await page.assertClean();
    });

    it('question mark opens the help, Escape closes it', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('?');
      assert.ok(await page.page.locator('dialog.help').isVisible());
      await page.screenshot('timeline-help');
      await page.press('Escape');
      assert.equal(await page.page.locator('dialog.help').isVisible(), false);
    });

    it('menus open with the arrow, move, choose and close', async () => {
      const page = await open();
      await page.page.locator('.menu > button', { hasText: 'View' }).focus();
      await page.press('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown');
      assert.equal(await page.page.evaluate(() => document.activeElement?.textContent), 'Sort by activity');
      await page.press('Enter');
      assert.deepEqual((await page.rows()).slice(6, 8), ['search', 'checkout']);
      assert.match((await page.page.evaluate(() => document.activeElement?.textContent)) ?? '', /View/);
    });

    it('a menu beside the right edge opens whole within a narrow page', async () => {
      const page = await open();
      await page.page.setViewportSize({ width: 540, height: 700 });
      await page.page.locator('.menu > button', { hasText: 'Export' }).click();
      const list = await page.page.locator('.menu-list:not([hidden])').boundingBox();
      assert.ok(list !== null && list.x >= 0 && list.x + list.width <= 540, JSON.stringify(list));
    });
  });

  describe('by pointer', () => {
    it('a click on a mark selects it, one beside takes it back', async () => {
      const page = await open();
      const lane = await page.lane('checkout');
      await page.page.mouse.click(await page.xOf(CONFLICT_AT), lane.y + 11);
      await page.detailsSay('Conflict (409)');
      await page.page.mouse.click(lane.x + 4, lane.y + 50);
      await page.detailsSay('What happened');
    });

    it('the pointer over a mark says what it is', async () => {
      const page = await open();
      const lane = await page.lane('checkout');
      await page.page.mouse.move(await page.xOf(CONFLICT_AT), lane.y + 11);
      await page.frame();
      assert.match(await page.page.locator('.tooltip').innerText(), /^version conflict\n.*Deployment shop\/checkout/);
    });

    it('Ctrl and wheel zooms so that the time under the pointer stays', async () => {
      const page = await open();
      const lane = await page.lane('checkout');
      const x = await page.xOf(CONFLICT_AT);
      await page.page.mouse.move(x, lane.y + 11);
      await page.page.keyboard.down('Control');
      await page.page.mouse.wheel(0, -300);
      await page.page.keyboard.up('Control');
      await page.frame();
      assert.ok(Math.abs((await page.xOf(CONFLICT_AT)) - x) < 1.5);
      assert.notEqual(await page.shown(), '8 min 22 s ▾');
    });

    it('Shift and wheel pans, the wheel alone scrolls the lanes', async () => {
      const page = await open({ height: 320 });
      const chart = await page.lane('invoices');
      const before = await page.kept();
      await page.page.mouse.move(chart.x + 300, chart.y + 20);
      await page.page.mouse.wheel(0, 120);
      await page.frame();
      const scrolled = await page.kept();
      assert.ok(scrolled.top > 50);
      assert.equal(scrolled.from, before.from);
      await page.page.keyboard.down('Shift');
      await page.page.mouse.wheel(0, 120);
      await page.page.keyboard.up('Shift');
      await page.frame();
      const panned = await page.kept();
      assert.ok(panned.from > before.from);
      assert.equal(panned.top, scrolled.top);
    });

    it('dragging measures a stretch, Enter zooms to it', async () => {
      const page = await open();
      const lane = await page.lane('search');
      const [from, to] = [await page.xOf(START + 290_000), await page.xOf(START + 410_000)];
      await page.page.mouse.move(from, lane.y + 30);
      await page.page.mouse.down();
      await page.page.mouse.move(to, lane.y + 30, { steps: 4 });
      await page.page.mouse.up();
      await page.frame();
      await page.screenshot('timeline-measure');
      await page.focusChart();
      await page.press('Enter');
      const shown = await page.kept();
      assert.ok(Math.abs(shown.from - (START + 290_000)) < 1000 && Math.abs(shown.to - (START + 410_000)) < 1000);
    });

    it('a double click opens a block', async () => {
      const page = await open({ width: 800 });
      const lane = await page.lane('search');
      const before = await page.kept();
      await page.page.mouse.dblclick(await page.xOf(START + 340_000), lane.y + 30);
      await page.frame();
      const after = await page.kept();
      assert.ok(after.to - after.from < before.to - before.from);
    });

    it('the window of the minimap can be dragged', async () => {
      const page = await open();
      await page.focusChart();
      await page.press('w', 'w', 'w');
      const before = await page.kept();
      const strip = await page.page.locator('.minimap').boundingBox();
      assert.ok(strip);
      const middle = strip.x + strip.width / 2;
      await page.page.mouse.move(middle, strip.y + 10);
      await page.page.mouse.down();
      await page.page.mouse.move(middle + 80, strip.y + 10, { steps: 3 });
      await page.page.mouse.up();
      const after = await page.kept();
      assert.ok(after.from > before.from);
      assert.ok(Math.abs(after.to - after.from - (before.to - before.from)) < 2);
    });

    it('an entry of the legend looks for its kind', async () => {
      const page = await open();
      await page.page.locator('.legend-entry', { hasText: /^conflict$/ }).click();
      await page.frame();
      assert.equal(await page.page.locator('.filter').inputValue(), 'is:conflict');
      await page.page.locator('.legend-entry', { hasText: /^conflict$/ }).click();
      assert.equal(await page.page.locator('.filter').inputValue(), '');
    });
  });

  describe('reads', () => {
    const READ_AT = START + 245_000;

    /** The demo with a recorded client that read `checkout` before its write was refused, and a list after it. */
    async function openWithReads(): Promise<TimelineDriver> {
      const page = await open({ empty: true, height: 900 });
      const { events, findings } = demo();
      const seen = events.find((event) => event.type === 'observed' && event.name.name === 'checkout');
      assert.ok(seen?.type === 'observed');
      const { name, uid, token, cluster } = seen;
      const { group, resource, namespace } = name;
      const read = (verb: 'get' | 'watch', at: number): object => ({
        type: 'read',
        via: 'recorder',
        at,
        cluster,
        actor: { manager: 'scaler' },
        verb,
        scope: { group, resource, namespace, ...(verb === 'get' ? { name: name.name } : {}) },
        given: [{ namespace, name: name.name, uid, token }],
        cacheAllowed: verb === 'watch',
      });
      const at = events.findIndex((event) => event.at > READ_AT);
      const all = [...events.slice(0, at), read('get', READ_AT), read('watch', READ_AT + 1500), ...events.slice(at)];
      const shifted = (seq: number): number => (seq > at ? seq + 2 : seq);
      const moved = findings.map((finding) => ({ ...finding, events: finding.events.map(shifted) }));
      await page.page.evaluate((log) => window.testHost.append(log), all as never);
      await page.page.evaluate((found) => window.testHost.setFindings(found), moved as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length > 3);
      await page.frame();
      return page;
    }

    async function openActors(page: TimelineDriver): Promise<void> {
      await page.page.locator('.row.lane', { hasText: /^.checkout/ }).click();
      await page.focusChart();
      await page.press('e');
    }

    it('are selected by pointer, and told: who, how, which version, and whether it was the newest', async () => {
      const page = await openWithReads();
      await openActors(page);
      const row = await page.page.locator('.row.track', { hasText: 'scaler' }).boundingBox();
      assert.ok(row !== null);
      const x = await page.xOf(READ_AT);
      await page.page.mouse.move(x, row.y + 23);
      await page.frame();
      assert.match(
        await page.page.locator('.tooltip').innerText(),
        /^read · get\nDeployment shop\/checkout\n.* · scaler/,
      );
      await page.page.mouse.click(x, row.y + 23);
      await page.detailsSay('was given');
      assert.match(
        await page.details(),
        /Read[\s\S]*scaler\s*get[\s\S]*not the newest: \d+ newer versions? (was|were) known then/,
      );
      assert.match(await page.summary(), /^read, Deployment shop\/checkout, scaler/);
      await page.screenshot('timeline-read');
      await page.assertClean();
    });

    it('are among what the arrows go through on a row of an actor, and not on the row of the object', async () => {
      const page = await openWithReads();
      await openActors(page);
      await page.page.locator('.row.track', { hasText: 'scaler' }).click();
      await page.focusChart();
      await page.press('End');
      const backTo = async (what: RegExp): Promise<void> => {
        for (let step = 0; step < 8 && !what.test(await page.summary()); step += 1) await page.press('ArrowLeft');
        assert.match(await page.summary(), what);
      };
      await backTo(/^version conflict, Deployment shop\/checkout, scaler/);
      await page.press('ArrowLeft', 'ArrowLeft');
      assert.match(await page.summary(), /^read, Deployment shop\/checkout, scaler/);
      await page.press('ArrowRight', 'ArrowRight');
      assert.match(await page.summary(), /^version conflict, /);
      await page.press('ArrowLeft');
      assert.match(await page.summary(), /^read, /);
      const track = page.page.locator('.row.track[aria-selected="true"]');
      assert.match((await track.getAttribute('aria-label')) ?? '', /^scaler: .* · 2 reads$/);
      await page.press('e', 'ArrowLeft');
      assert.doesNotMatch(await page.summary(), /^read/);
      await page.assertClean();
    });

    it('of those who do nothing else have rows of their own, the first of them until all are asked for', async () => {
      const page = await open({ height: 1600 });
      const { events } = demo();
      const seen = events.find((event) => event.type === 'observed' && event.name.name === 'checkout');
      assert.ok(seen?.type === 'observed');
      const { name, uid, token, cluster } = seen;
      const reads = Array.from({ length: 22 }, (_, index) => ({
        type: 'read',
        via: 'recorder',
        at: READ_AT + index * 9000,
        cluster,
        actor: { client: `node-${String(index).padStart(2, '0')}` },
        verb: 'get',
        scope: { group: name.group, resource: name.resource, namespace: name.namespace, name: name.name },
        given: [{ namespace: name.namespace, name: name.name, uid, token }],
        cacheAllowed: false,
      }));
      await page.page.evaluate((log) => window.testHost.append(log), reads as never);
      await openActors(page);
      const track = (index: string): Locator => page.page.locator('.row.track:not([hidden])', { hasText: index });
      await track('node-19').waitFor();
      assert.equal(await track('node-20').count(), 0);
      assert.match((await track('node-03').getAttribute('aria-label')) ?? '', /^node-03: 1 read$/);
      await page.screenshot('timeline-readers');
      await page.page.locator('.row.more', { hasText: '2 more that only read' }).click();
      await track('node-21').waitFor();
      await track('node-21').click();
      await page.frame();
      assert.match(await page.summary(), /^read, Deployment shop\/checkout, node-21/);
      await page.focusChart();
      await page.press('ArrowUp');
      assert.match(await page.summary(), /^read, Deployment shop\/checkout, node-20/);
      await page.press('e', 'g');
      await page.page.locator('.row.lane:not([hidden])', { hasText: 'node-05' }).waitFor();
      await page.assertClean();
    });

    it('are rows of the table where their rows are open, and where the filter asks for them', async () => {
      const page = await openWithReads();
      await page.focusChart();
      await page.press('t');
      const rows = page.page.locator('.grid-row:not([hidden])', { hasText: /scaler.*(get|watch)$/ });
      const count = async (): Promise<number> =>
        Number(await page.page.locator('[role="grid"]').getAttribute('aria-rowcount'));
      const before = await count();
      await openActors(page);
      assert.equal(await count(), before + 2);
      await page.press('e');
      assert.equal(await count(), before);
      await page.page.locator('.filter').fill('is:read');
      await page.frame();
      assert.equal(await count(), 1 + 2);
      assert.match(await rows.first().innerText(), /Deployment shop\/checkout\s+read\s+scaler\s+get/);
      await rows.first().click();
      await page.detailsSay('was given');
      await page.press('ArrowDown');
      assert.match(await page.summary(), /^read, /);
      await page.screenshot('timeline-read-table');
      await page.assertClean();
    });

    it('that prove a finding are shown when it is revealed, on a row of their actor', async () => {
      const page = await openWithReads();
      const { events } = demo();
      const read = events.findIndex((event) => event.at > READ_AT) + 1;
      await page.page.evaluate((event) => window.testHost.reveal(event), read);
      await page.detailsSay('was given');
      assert.ok((await page.rows()).includes('scaler'));
      assert.equal(await page.page.locator('.row.track[aria-selected="true"] .name').innerText(), 'scaler');
    });
  });

  describe('the filter', () => {
    it('says what it does not understand, and how many lanes it leaves out', async () => {
      const page = await open();
      await page.page.locator('.filter').fill('kind:deployment');
      await page.frame();
      assert.equal(await page.page.locator('.filter-problem').innerText(), '4 lanes left out by the filter');
      await page.page.locator('.filter').fill('colour:red');
      await page.frame();
      assert.equal(await page.page.locator('.filter-problem').innerText(), 'There is no such key: colour:red');
      assert.equal(await page.page.locator('.filter').getAttribute('aria-invalid'), 'true');
    });

    it('says when nothing is left', async () => {
      const page = await open();
      await page.page.locator('.filter').fill('name:nothing-is-called-so');
      await page.frame();
      assert.equal(await page.page.locator('.empty').innerText(), 'No object matches the filter.');
    });
  });

  describe('what the host does', () => {
    it('the links of the details ask for what they say', async () => {
      const page = await open({ test: { hasCluster: true } });
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      for (const name of ['Open diff', 'Show in tree', 'Safe edit', 'Copy'])
        await page.page.locator('.details button', { hasText: name }).click();
      await page.frame();
      const calls = await page.calls();
      assert.deepEqual(
        calls.map((call) => call.method),
        ['openDiff', 'revealInTree', 'safeEdit', 'copy'],
      );
      assert.match(String(calls[3]?.params), /^Conflict \(409\)\nDeployment shop\/checkout \(kind-dev\)/);
    });

    it('what came of a write is added to its details when it is known', async () => {
      const page = await open({ empty: true });
      const { events } = demo();
      await page.page.evaluate((first) => window.testHost.append(first), events.slice(0, CONFLICT) as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length > 3);
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      assert.doesNotMatch(await page.details(), /written at attempt 2/);
      await page.page.waitForTimeout(1600);
      await page.page.evaluate((rest) => window.testHost.append(rest), events.slice(CONFLICT) as never);
      await page.detailsSay('written at attempt 2');
    });

    it('an object is shown with what is near of its incarnation, also from lanes of actors; one that is not there is said', async () => {
      const page = await open();
      const reveal = async (more: object): Promise<void> => {
        const seen = demo().events.find((event) => event.type === 'observed' && event.name.name === 'feature-flags');
        assert.ok(seen?.type === 'observed');
        const object = { cluster: seen.cluster, ...seen.name, uid: seen.uid, ...more };
        await page.page.evaluate((asked) => window.testHost.send({ type: 'revealObject', object: asked }), object);
        await page.frame();
      };
      await page.focusChart();
      await page.press('g');
      await reveal({});
      assert.match(await page.summary(), /ConfigMap shop\/feature-flags/);
      await page.detailsSay('incarnation 1 of 3');
      await reveal({ cluster: 'another' });
      assert.equal(await page.page.locator('.toast').innerText(), 'That object is not on the timeline.');
      await page.detailsSay('incarnation 1 of 3');
      await page.assertClean();
    });

    it('a request that fails is said in one sentence and nothing else stops', async () => {
      const page = await open();
      await page.page.evaluate(() => window.testHost.fail('openDiff'));
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      await page.page.locator('.details button', { hasText: 'Open diff' }).click();
      await page.page.locator('.toast', { hasText: /^openDiff does not work today$/ }).waitFor();
      await page.page.locator('.details button', { hasText: 'Copy' }).click();
      await page.frame();
      assert.equal((await page.calls()).at(-1)?.method, 'copy');
    });

    it('an append that was lost is made up for by a whole snapshot', async () => {
      const page = await open({ empty: true });
      const { events } = demo();
      await page.page.evaluate((first) => window.testHost.append(first), events.slice(0, 30) as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length >= 2);
      await page.page.evaluate(
        (next) => {
          window.testHost.loseNext();
          window.testHost.append(next);
        },
        events.slice(30, 60) as never,
      );
      await page.page.waitForTimeout(150);
      await page.page.evaluate((rest) => window.testHost.append(rest), events.slice(60) as never);
      await page.page.waitForFunction(() => window.testHost.received.includes('resync'));
      await page.detailsSay(`6 objects, ${MARKS} events`);
    });

    it('a message that is malformed is reported and ignored', async () => {
      const page = await open();
      await page.page.evaluate(() => {
        window.testHost.send({ type: 'snapshot', sequence: 9, model: { lanes: 'many' } });
        window.testHost.send({ type: 'selfDestruct' });
        window.testHost.send('hello');
      });
      await page.page.waitForFunction(() => window.testHost.problems.length === 3);
      assert.equal((await page.rows()).length, 10);
    });

    it('names of a cluster are only ever text', async () => {
      const page = await open({ empty: true });
      const hostile = '<img src=x onerror=alert(1)>';
      const event = {
        type: 'observed',
        at: START,
        via: 'watch',
        stream: 's',
        change: 'ADDED',
        cluster: 'c',
        kind: hostile,
        name: { group: '', resource: 'configmaps', namespace: hostile, name: hostile },
        uid: hostile,
        token: hostile,
      };
      await page.page.evaluate((one) => window.testHost.append([one]), event as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length === 1);
      await page.focusChart();
      await page.press('ArrowDown', 't');
      await page.detailsSay('onerror');
      assert.equal(await page.page.locator('img').count(), 0);
      await page.assertClean();
    });

    it('words come from the host in its language', async () => {
      const page = await open({
        test: {
          translations: { Fit: 'Einpassen', 'What happened': 'Was geschah', 'version conflict': 'Versionskonflikt' },
        },
      });
      assert.equal(await page.page.locator('button', { hasText: 'Einpassen' }).count(), 1);
      await page.detailsSay('Was geschah');
    });

    it('what the person chose is there again after the view was hidden', async () => {
      const first = await open();
      await first.page.locator('.filter').fill('kind:deployment');
      await first.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await first.focusChart();
      await first.press('w', 'w');
      const kept = await first.kept();
      await first.page.close();
      const second = await open({ test: { kept } });
      assert.equal(await second.page.locator('.filter').inputValue(), 'kind:deployment');
      await second.detailsSay('Conflict (409)');
      const again = await second.kept();
      assert.ok(Math.abs(again.from - kept.from) < 1 && Math.abs(again.to - kept.to) < 1);
    });
  });

  describe('live', () => {
    /** An event of now: following is by the clock of the machine. */
    const beat = (name: string, token: string): object => ({
      type: 'observed',
      at: Date.now(),
      via: 'watch',
      stream: 's',
      change: 'MODIFIED',
      cluster: 'c',
      kind: 'Pod',
      name: { group: '', resource: 'pods', namespace: 'n', name },
      uid: `uid-${name}`,
      token,
    });

    it('follows, waits while the pointer is on the lanes, and goes on when it leaves', async () => {
      const page = await open({ empty: true, test: { hasCluster: true } });
      await page.page.evaluate((one) => window.testHost.append([one]), beat('a', '1') as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length === 1);
      const before = await page.kept();
      await page.page.waitForTimeout(600);
      assert.ok((await page.kept()).to > before.to, 'it follows');
      const chart = await page.lane('a');
      await page.page.mouse.move(chart.x + 200, chart.y + 20);
      await page.frame();
      assert.equal(await page.page.locator('button[aria-pressed="true"]').first().innerText(), '●Live · held');
      const held = await page.kept();
      await page.page.evaluate((ones) => window.testHost.append(ones), [
        beat('0-earlier', '2'),
        beat('b', '3'),
      ] as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length === 3);
      assert.equal((await page.kept()).to, held.to, 'nothing moves under the pointer');
      await page.page.mouse.move(5, 5);
      await page.page.waitForTimeout(600);
      assert.ok((await page.kept()).to > held.to);
    });

    it('says how much is newer once following ended, and the table shows the newest while it follows', async () => {
      const page = await open({ empty: true, test: { hasCluster: true } });
      const append = (from: number, count: number): Promise<void> =>
        page.page.evaluate(
          (ones) => window.testHost.append(ones),
          Array.from({ length: count }, (_unused, index) => beat(`o${from + index}`, `${from + index}`)) as never,
        );
      const live = page.page.locator('.toolbar button[aria-pressed]').first();
      await append(100, 60);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length > 3);
      await page.focusChart();
      await page.press('t');
      const newest = (name: string): Promise<void> =>
        page.page.locator('.grid-row:not([hidden])', { hasText: name }).waitFor({ timeout: 5000 });
      await newest('o159');
      await append(200, 3);
      await newest('o202');
      assert.equal(await live.innerText(), '●Live');
      await live.click();
      await page.page.locator('.toolbar button', { hasText: /^●Paused$/ }).waitFor({ timeout: 5000 });
      await append(300, 1);
      await page.page.locator('.toolbar button', { hasText: 'Paused · 1 newer event' }).waitFor({ timeout: 5000 });
      await append(400, 4);
      await page.page.locator('.toolbar button', { hasText: 'Paused · 5 newer events' }).waitFor({ timeout: 5000 });
      await page.assertClean();
    });

    it('the words beside a lane say what came since they were first drawn', async () => {
      const page = await open({ empty: true, test: { hasCluster: true } });
      await page.page.evaluate((one) => window.testHost.append([one]), beat('a', '1') as never);
      const beside = (words: string): Promise<void> =>
        page.page.locator('.row.lane:not([hidden]) .sub', { hasText: words }).waitFor({ timeout: 5000 });
      await beside('uid-a');
      const again = { ...beat('a', '2'), uid: 'second', change: 'ADDED' };
      await page.page.evaluate((one) => window.testHost.append([one]), again as never);
      await beside('2 incarnations');
    });

    it('a row that comes above does not push away the one under the pointer', async () => {
      const page = await open({ empty: true, height: 300, test: { hasCluster: true } });
      const many = Array.from({ length: 20 }, (_, index) => beat(`m-${String(index).padStart(2, '0')}`, '1'));
      await page.page.evaluate((ones) => window.testHost.append(ones), many as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length >= 2);
      const chart = await page.page.locator('.chart').boundingBox();
      assert.ok(chart);
      await page.page.mouse.move(chart.x + 200, chart.y + 60);
      await page.page.mouse.wheel(0, 400);
      await page.frame();
      const rowUnder = (): Promise<string> =>
        page.page.evaluate((y) => {
          const rows = Array.from(document.querySelectorAll<HTMLElement>('.row:not([hidden])'));
          return (
            rows.find((row) => row.getBoundingClientRect().top <= y && row.getBoundingClientRect().bottom > y)
              ?.innerText ?? ''
          );
        }, chart.y + 60);
      const before = await rowUnder();
      await page.page.evaluate(
        (ones) => window.testHost.append(ones),
        Array.from({ length: 5 }, (_, index) => beat(`a-${index}`, '1')) as never,
      );
      await page.page.waitForTimeout(200);
      await page.frame();
      assert.equal(await rowUnder(), before);
    });

    it('panning stops following, L starts it again', async () => {
      const page = await open({ empty: true, test: { hasCluster: true } });
      await page.page.evaluate((one) => window.testHost.append([one]), beat('a', '1') as never);
      await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length === 1);
      await page.focusChart();
      await page.press('a');
      assert.equal((await page.kept()).live, false);
      await page.press('l');
      assert.equal((await page.kept()).live, true);
    });
  });

  describe('replay', () => {
    it('tells the tree the event that it should show, and says so; Escape goes back to now', async () => {
      const page = await open({ test: { hasCluster: true, kept: { from: START, to: START + 480_000, live: false } } });
      const axis = await page.page.locator('.axis').boundingBox();
      assert.ok(axis);
      await page.page.mouse.click(axis.x + axis.width / 2, axis.y + 12);
      await page.page.waitForFunction(() => window.testHost.calls.some((call) => call.method === 'scrub'));
      assert.match(await page.page.locator('.replay-words').innerText(), /^The tree shows the state as of 14:0[34]/);
      await page.screenshot('timeline-replay');
      const [first] = await page.calls();
      const shown = demo().events[Number(first?.params) - 1];
      assert.ok(shown !== undefined && shown.at <= START + 241_000 && shown.at > START + 200_000);
      await page.focusChart();
      await page.press('Escape');
      await page.page.waitForFunction(() => window.testHost.calls.at(-1)?.params === null);
      assert.equal(await page.page.locator('.replay').isVisible(), false);
    });

    it('the slider moves it by keyboard', async () => {
      const page = await open();
      await page.page.locator('button', { hasText: 'Replay' }).click();
      // What is not drawn yet takes no focus.
      await page.page.locator('.replay input').waitFor();
      await page.page.locator('.replay input').focus();
      await page.press('Home');
      await page.page.locator('.replay input[aria-valuetext^="14:00:00"]').waitFor({ timeout: 5000 });
    });
  });

  describe('export', () => {
    async function exported(
      page: TimelineDriver,
      item: RegExp,
    ): Promise<{ method: string; params: { format?: string; data?: string } | boolean }> {
      await page.page.locator('.menu > button', { hasText: 'Export' }).click();
      await page.page.locator('.menu-item', { hasText: item }).click();
      await page.page.waitForFunction(() =>
        window.testHost.calls.some((call) => call.method === 'saveImage' || call.method === 'exportTrace'),
      );
      return (await page.calls()).at(-1) as never;
    }

    it('as SVG holds all lanes as text', async () => {
      const page = await open();
      const { params } = await exported(page, /^Picture \(SVG\)/);
      const { format, data } = params as { format: string; data: string };
      assert.equal(format, 'svg');
      assert.match(data, /^<svg /);
      for (const word of ['checkout', 'leader', 'lost update: .data.dark', 'not observed · relist after 410'])
        assert.ok(data.includes(word), word);
    });

    it('as PNG is a picture of the size of all lanes', async () => {
      const page = await open();
      const { params } = await exported(page, /^Picture \(PNG\)/);
      const bytes = Buffer.from((params as { data: string }).data, 'base64');
      assert.deepEqual([...bytes.subarray(1, 4)], [...Buffer.from('PNG')]);
      assert.ok(bytes.readUInt32BE(16) > 1500 && bytes.readUInt32BE(20) > 900);
    });

    it('to share holds no name of the cluster', async () => {
      const page = await open();
      const { params } = await exported(page, /^Picture to share \(SVG/);
      const { data } = params as { data: string };
      for (const word of ['checkout', 'shop', 'kind-dev', '9a01d2e4', 'flag-sync', 'resizer'])
        assert.ok(!data.toLowerCase().includes(word), word);
      assert.match(data, /name-\d/);
    });

    it('holds the rows of actors that are open; to share, without a name of theirs', async () => {
      const page = await open();
      await page.page.evaluate((event) => window.testHost.reveal(event), CONFLICT);
      await page.detailsSay('Who made progress');
      await page.focusChart();
      await page.press('e');
      const rowsOf = (data: string): number => data.match(/<text x="40" /g)?.length ?? 0;
      const own = ((await exported(page, /^Picture \(SVG\)/)).params as { data: string }).data;
      assert.ok(own.includes('>deployment-controller</text>'));
      const shared = ((await exported(page, /^Picture to share \(SVG/)).params as { data: string }).data;
      assert.deepEqual([rowsOf(own), rowsOf(shared)], [5, 5]);
      assert.ok(!shared.includes('labeller') && !shared.includes('scaler'));
    });

    it('of the trace is the host’s', async () => {
      const page = await open();
      assert.deepEqual(await exported(page, /^Trace to share/), { method: 'exportTrace', params: true });
    });
  });
});
