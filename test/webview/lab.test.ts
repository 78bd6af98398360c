import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { browserHarness } from './harness.ts';
import { LabDriver, LabGrounds } from './labDriver.ts';
import { THEMES } from './themes.ts';
import type { LabPage } from '../../src/protocol/labStates.ts';

describe('the labs in a browser', function () {
  this.timeout(60_000);
  let grounds: LabGrounds;
  let lab: LabDriver | undefined;

  before(async () => {
    grounds = await LabGrounds.start();
  });
  const shown = browserHarness();
  after(() => grounds.stop());

  afterEach(async () => {
    await lab?.close();
    lab = undefined;
    assert.deepEqual(await grounds.left(), [], 'nothing is left on the server');
  });

  const open = async (page: LabPage, options = {}): Promise<LabDriver> => {
    lab = await LabDriver.open(shown.harness, grounds, page, options);
    return lab;
  };

  describe('modular', () => {
    const label = (page: LabDriver): Promise<string | null> => page.page.locator('.ring .now').textContent();
    const predict = async (page: LabDriver, text: string): Promise<void> => {
      await page.page.getByLabel('Your prediction of the next label').fill(text);
      await page.press('Enter');
    };

    it('by keyboard alone: eight right predictions, and the label is 0 again after 7', async () => {
      const page = await open('modular');
      await page.page.getByLabel('Your prediction of the next label').focus();
      for (const next of ['1', '2', '3', '4', '5', '6', '7', '0']) {
        await page.page.keyboard.type(next);
        await page.press('Enter');
        await page.says('.result', new RegExp(`Right: step \\d shows ${next}\\.`));
      }
      assert.equal(await page.page.locator('.residue').count(), 8);
      assert.equal(await page.page.locator('.residue.visited').count(), 8);
      assert.equal(await label(page), '0');
      assert.match(await page.text('.result'), /newer than the label before it, and not greater/);
      assert.match(await page.text('[role=status]'), /step 8 shows 0/);
      await page.screenshot('lab-modular');
      await page.assertClean();
    });

    it('asks for a prediction before each step, and says when it was wrong', async () => {
      const page = await open('modular');
      await predict(page, '');
      await page.says('.problem', /First predict/);
      assert.equal(await label(page), '0', 'no step without a prediction');
      await predict(page, 'soon');
      await page.says('.problem', /First predict/);
      await predict(page, '8');
      await page.says('.result', /No: you predicted 8, and step 1 shows 1/);
      assert.equal(await page.text('.problem'), '');
    });

    it('shows that greater does not mean newer once the labels wrapped', async () => {
      const page = await open('modular');
      for (let step = 1; step <= 8; step += 1) {
        assert.equal(await page.page.locator('.questions legend').count(), 0);
        await predict(page, String(step % 8));
        await page.says('.result', new RegExp(`step ${step} shows`));
      }
      await page.says('.questions legend', /Step 7 showed 7, step 8 showed 0/);
      await page.page
        .getByRole('group', { name: /Step 7 showed 7/ })
        .getByLabel('newer')
        .check();
      await page.page.getByRole('button', { name: 'Answer' }).first().click();
      await page.says('.answered', /No: by that rule it would be older/);
      await page.page
        .getByRole('group', { name: /Step 0 showed 0/ })
        .getByLabel('the same version')
        .check();
      await page.page.getByRole('button', { name: 'Answer' }).click();
      await page.says('.answered', /Yes: by that rule it would be the same version\. But it was shown later/);
    });

    it('Reset returns to the exact start, from any m and a', async () => {
      const page = await open('modular');
      const start = await page.page.locator('main').innerHTML();
      await predict(page, '1');
      await page.says('.result', /step 1/);
      await page.page.getByLabel('m, the modulus').fill('9007199254740991');
      await page.page.getByLabel('a, what each step adds').fill('9007199254740990');
      await page.page.getByRole('button', { name: 'Reset' }).click();
      await page.says('.rule', /mod 9007199254740991/);
      await predict(page, '9007199254740990');
      await page.says('.result', /Right: step 1 shows 9007199254740990/);
      await predict(page, '9007199254740989');
      await page.says('.result', /Right: step 2 shows 9007199254740989/);
      await page.page.getByLabel('m, the modulus').fill('8');
      await page.page.getByLabel('a, what each step adds').fill('1');
      await page.press('Enter');
      await page.says('.rule', /mod 8/);
      await page.page.evaluate(() => document.querySelector('[role=status]')?.replaceChildren());
      assert.equal(await page.page.locator('main').innerHTML(), start);
    });

    it('refuses a bad m or a with a sentence and goes on as before', async () => {
      const page = await open('modular');
      await predict(page, '1');
      for (const [m, a, sentence] of [
        ['0', '1', /m must be a whole number from 1 to 2\^53-1 .*"0" is not/],
        ['-3', '1', /m must be/],
        ['2.5', '1', /m must be/],
        ['', '1', /m must be/],
        ['9007199254740992', '1', /m must be/],
        ['8', '-1', /a must be a whole number from 0/],
        ['8', 'one', /a must be/],
      ] as const) {
        await page.page.getByLabel('m, the modulus').fill(m);
        await page.page.getByLabel('a, what each step adds').fill(a);
        await page.page.getByRole('button', { name: 'Reset' }).click();
        await page.says('.problem', sentence);
        assert.equal(await label(page), '1');
      }
    });

    it('visits m/gcd(a,m) residues, and its disclaimer stays in sight', async () => {
      const page = await open('modular', { height: 400 });
      await page.page.getByLabel('m, the modulus').fill('12');
      await page.page.getByLabel('a, what each step adds').fill('8');
      await page.page.getByRole('button', { name: 'Reset' }).click();
      for (const next of ['8', '4', '0', '8', '4', '0']) {
        await predict(page, next);
        await page.says('.result', new RegExp(`shows ${next}`));
      }
      assert.equal(await page.page.locator('.residue.visited').count(), 3);
      await page.says('.beside', /3 of 3 different labels/);
      await page.page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
      const box = await page.page.locator('.disclaimer').boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y < 400, 'in sight after scrolling');
      assert.match(
        await page.text('.disclaimer'),
        /resourceVersion is not modelled by them and is not claimed to wrap/,
      );
    });
  });

  describe('replay', () => {
    it('asks, runs, and shows the server’s real answer for every step; wrong predictions are wrong', async () => {
      const page = await open('replay');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.current h2', /^1\./);
      await page.page.getByRole('button', { name: 'Run Step' }).click();
      await page.says('.problem', /First predict/);
      const total = Number(/of (\d+) steps/.exec(await page.text('.replay > .muted'))?.[1]);
      for (let step = 1; step <= total; step += 1) {
        await page.says('.current h2', new RegExp(`^${step}\\.`));
        // The first answer has the focus: Space chooses it, Enter sends it.
        await page.press('Space', 'Enter');
        await page.says('.card h2', new RegExp(` ${step}\\. `));
        if (step === 5) await page.screenshot('lab-replay');
      }
      await page.says('.result', /The server behaved as the contract says in every step\./);
      assert.equal(await page.page.locator('.card .fails').count(), 0);
      assert.ok((await page.page.locator('.card > .wrong').count()) > 0, 'some first answers are wrong');
      assert.ok((await page.page.locator('.card > .right').count()) > 0, 'and some are right');
      const facts = await page.page.locator('.card th[scope=row]').allInnerTexts();
      assert.ok(facts.includes('Ben’s second change is lost'), facts.join());
      assert.deepEqual(
        facts.filter((fact) => !/^[A-Z]/.test(fact)),
        [],
        'a fact is said in words',
      );
      assert.ok(!(await page.page.locator('.exchanges').allInnerTexts()).join().includes('observer'));
      const refused = page.page.locator('.card', { hasText: '409 Conflict' }).last();
      const badges = await refused.locator('.badge').allInnerTexts();
      assert.ok(badges.length > 0);
      assert.ok(!(await page.text('.exchanges')).includes('versions-lab'), 'the clean-up is no part of a step');
      assert.deepEqual(await grounds.left(), []);
      assert.ok(grounds.exchanges.length > total, 'every request is told, for the timeline');
      await page.assertClean();
    });

    it('removes its object when the panel closes in the middle, and when it is stopped', async () => {
      const page = await open('replay');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.current h2', /^1\./);
      await page.press('Space', 'Enter');
      await page.says('.current h2', /^2\./);
      assert.equal((await grounds.left()).length, 1, 'it is there while it runs');
      await page.page.getByRole('button', { name: 'Stop and Clean Up' }).click();
      await page.says('.result', /Stopped\. The object is removed\./);
      assert.deepEqual(await grounds.left(), []);
      await page.page.getByRole('button', { name: 'Start Again' }).click();
      await page.says('.current h2', /^1\./);
      await page.press('Space', 'Enter');
      await page.says('.current h2', /^2\./);
    });
  });

  describe('contention', () => {
    it('two runs side by side: the token swap loses updates, computing anew loses none', async () => {
      const page = await open('contention');
      await page.page.getByLabel('Teacher’s mode').check();
      await page.page.getByRole('button', { name: 'Start' }).focus();
      await page.press('Enter');
      await page.page.locator('.run').nth(1).locator('.result', { hasText: /./ }).waitFor({ timeout: 50_000 });
      const [swap, safe] = await page.page.locator('.run .result').allInnerTexts();
      assert.match(swap ?? '', /^✗? ?\d+ accepted updates are gone, and nobody was told/);
      assert.match(safe ?? '', /Every accepted update is still there/);
      await page.page.getByText('Attempts as a table').first().click();
      const accepted = Number(await page.text('.run:first-child .count.accepted dd'));
      const cells = await page.page.locator('.run').first().locator('tbody tr td:nth-child(2)').allInnerTexts();
      assert.equal(
        cells.reduce((sum, cell) => sum + Number(cell), 0),
        accepted,
        'the table adds up to the count',
      );
      await page.screenshot('lab-contention');
      await page.assertClean();
    });

    it('gives updates up at the bound, and says so', async () => {
      const page = await open('contention');
      await page.page.locator('select').first().selectOption('read-modify-write');
      await page.page.getByLabel('Attempts at most').fill('1');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.page.locator('.run .result', { hasText: /./ }).waitFor({ timeout: 50_000 });
      assert.match(
        await page.text('.run .result'),
        /Every accepted update is still there\. \d+ updates were given up at the bound/,
      );
    });

    it('refuses numbers that are none or out of bounds, and cancels in the middle', async () => {
      const page = await open('contention');
      await page.page.getByLabel('Actors').fill('many');
      const kept = await page.page.evaluate(() => (window.acquireVsCodeApi() as { getState(): unknown }).getState());
      assert.deepEqual(kept, {
        texts: ['token-swap', 'read-modify-write', 'many', '10', '20', '50', '1'],
        compare: false,
      });
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.problem', /"many" is no whole number/);
      await page.page.getByLabel('Actors').fill('51');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.problem', /Actors: a whole number from 1 to 50 is needed/);
      await page.page.getByLabel('Actors').fill('3');
      await page.page.getByLabel('Updates of each').fill('500');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.count.accepted dd', /[1-9]/);
      await page.page.getByRole('button', { name: 'Cancel' }).click();
      await page.says('.run', /Cancelled after .* The object is removed\./);
    });
  });

  describe('a server that goes away', () => {
    it('ends the replay with a sentence', async () => {
      const page = await open('replay');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.current h2', /^1\./);
      await page.press('Space', 'Enter');
      await page.says('.current h2', /^2\./);
      grounds.stopServer();
      await page.says('.result', /The server was stopped or its connection given up, and that ended it/);
    });

    it('ends a run of the contention lab with a sentence', async () => {
      const page = await open('contention');
      await page.page.getByLabel('Updates of each').fill('500');
      await page.page.getByRole('button', { name: 'Start' }).click();
      await page.says('.count.accepted dd', /[1-9]/);
      grounds.stopServer();
      await page.says('.run', /The server was stopped or its connection given up, and that ended it/);
    });
  });

  describe('lessons', () => {
    it('predict, skip and fail, have it done, pass; the report can be exported', async () => {
      const page = await open('lessons');
      await page.page.locator('.lesson-row').nth(9).waitFor();
      assert.equal(await page.page.locator('.lesson-row').count(), 10);
      await page.page.getByRole('button', { name: /The token is the same, or it is not/ }).click();
      await page.says('h3', /1\. A write that changes nothing/);
      const check = page.page.getByRole('button', { name: 'Check' });
      assert.equal(await check.isDisabled(), true, 'first the prediction');
      await page.page.getByLabel('another').check();
      await page.page.getByRole('button', { name: 'Predict' }).click();
      await page.says('.wrong', /The contract says: the same/);
      assert.equal(await page.page.getByLabel('the same').isDisabled(), true, 'only the first prediction counts');
      assert.equal(await page.page.evaluate(() => document.activeElement?.textContent), 'Check');
      await check.click();
      await page.says('.checks .fails', /does not hold/);
      await page.page.getByRole('button', { name: 'Open configmaps/settings' }).click();
      await page.page.getByRole('button', { name: 'Open a terminal' }).click();
      assert.deepEqual(grounds.openedObjects, ['configmaps/settings', 'terminal']);
      await page.page.getByText('How it is done in a terminal').click();
      await page.says('pre', /kubectl replace -f settings\.yaml/);
      await page.screenshot('lab-lesson-not-yet');
      await page.page.getByRole('button', { name: 'Do It for Me' }).click();
      await page.says('h3', /2\./);
      await page.says('.passed', /shown, predicted wrong/);
      await page.page.getByLabel(/only equality of one object/).check();
      await page.page.getByRole('button', { name: 'Predict' }).click();
      await page.says('.right', /That is right/);
      await page.page.getByRole('button', { name: 'Do It for Me' }).click();
      await page.says('.result', /Passed: 0 of 2 steps by yourself/);
      assert.equal(await page.page.evaluate(() => document.activeElement?.className), 'result right');
      const lines = await page.page
        .locator('.lesson-row > :nth-child(2)')
        .evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().x));
      assert.deepEqual(new Set(lines).size, 1, 'a lesson that was passed stands in line with the others');
      await page.page.getByRole('button', { name: 'Export the Report as JSON…' }).click();
      await page.page.waitForTimeout(100);
      assert.equal(grounds.saved.at(-1)?.format, 'json');
      assert.deepEqual(
        grounds.saved.at(-1)?.report.steps.map((step) => [step.passed, step.shown, step.predictedRight]),
        [
          [true, true, false],
          [true, true, true],
        ],
      );
      await page.screenshot('lab-lesson-passed');
      await page.assertClean();
    });

    it('a lesson whose server goes away is over, and says why', async () => {
      const page = await open('lessons');
      await page.page.locator('.lesson-row').first().click();
      await page.says('h3', /1\. Look at the object/);
      grounds.stopServer();
      await page.says('.end', /The lesson|Not passed/);
      assert.match(
        grounds.told.at(-1) ?? '',
        /"A name locates, a UID tells lives apart" has ended: its server was stopped/,
      );
      assert.equal(await page.page.locator('h3').count(), 0, 'there is no step to check any more');
      await page.page.locator('.lesson-row').nth(1).click();
      await page.says('h3', /1\. A write that changes nothing/);
    });

    it('the lesson of the modular labels takes the eight labels, and no others', async () => {
      const page = await open('lessons');
      await page.page.getByRole('button', { name: /Read the contract/ }).click();
      await page.page.getByLabel('0', { exact: true }).check();
      await page.page.getByRole('button', { name: 'Predict' }).click();
      const labels = page.page.getByLabel(/The next 8 labels for m=8 and a=1/);
      await labels.fill('1 2 3 4 5 6 7 8');
      await page.page.getByRole('button', { name: 'Check' }).click();
      await page.says('.checks .fails', /./);
      await labels.fill('1 2 3 4 5 6 7 0');
      await page.page.getByRole('button', { name: 'Check' }).click();
      await page.says('.result', /Passed: 1 of 1 steps by yourself/);
    });
  });

  describe('looks', () => {
    for (const { name: theme } of THEMES) {
      it(`axe finds nothing to complain about in ${theme}`, async () => {
        for (const which of ['modular', 'replay', 'contention', 'lessons'] as const) {
          const page = await open(which, { theme });
          if (which === 'replay') {
            await page.page.getByRole('button', { name: 'Start' }).click();
            await page.says('.current h2', /^1\./);
            await page.press('Space', 'Enter');
            await page.says('.current h2', /^2\./);
          }
          if (which === 'lessons') {
            await page.page.locator('.lesson-row').nth(1).click();
            await page.says('h3', /1\./);
          }
          assert.deepEqual(await page.axe(), [], which);
          await page.screenshot(`lab-${which}-${theme}`);
          await page.close();
          lab = undefined;
        }
      });
    }

    it('speaks the language of the editor', async () => {
      const file = new URL('../../l10n/bundle.l10n.de.json', import.meta.url);
      const translations = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
      const page = await open('modular', { translations });
      await page.page.getByLabel('Ihre Vorhersage des nächsten Labels').fill('1');
      await page.page.getByRole('button', { name: 'Schritt' }).click();
      await page.says('.result', /Richtig/);
      await page.screenshot('lab-modular-german');
    });

    it('stays within a narrow pane, in a language of longer words too', async () => {
      const file = new URL('../../l10n/bundle.l10n.de.json', import.meta.url);
      const translations = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
      for (const which of ['modular', 'replay', 'contention', 'lessons'] as const) {
        const page = await open(which, { width: 230, translations });
        if (which === 'lessons') {
          await page.page.locator('.lesson-row').nth(1).click();
          await page.says('h3', /1\./);
        }
        if (which === 'replay') {
          // The step whose facts have the longest words: the refused apply.
          await page.page.getByRole('button', { name: 'Beginnen' }).click();
          for (let step = 1; step <= 13; step += 1) {
            await page.says('.current h2', new RegExp(`^${step}\\.`));
            await page.press('Space', 'Enter');
          }
          await page.says('td', /FieldManagerConflict/);
        }
        const outside = await page.page.evaluate(() =>
          Array.from(document.querySelectorAll('nav.labs *, main *'))
            .filter((element) => element.checkVisibility() && element.closest('.scroll') === null)
            .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
            .map((element) => `${element.tagName} ${element.className} ${element.textContent}`),
        );
        assert.deepEqual(outside, [], which);
        await page.screenshot(`lab-${which}-slim`);
        await page.close();
        lab = undefined;
      }
    });

    it('an open lesson folds the list where both do not fit side by side', async () => {
      const page = await open('lessons', { width: 500 });
      const file = page.page.getByRole('button', { name: 'Open a Lesson File…' });
      await file.waitFor();
      await page.page.locator('.lesson-row').nth(1).click();
      await page.says('h3', /1\./);
      await page.screenshot('lab-lessons-narrow');
      assert.equal(await file.isVisible(), false);
      await page.page.getByText('All lessons').click();
      assert.equal(await file.isVisible(), true);
    });

    it('a lesson whose page becomes narrow keeps its step in view, with the list folded', async () => {
      const page = await open('lessons', { width: 1200 });
      const file = page.page.getByRole('button', { name: 'Open a Lesson File…' });
      await file.waitFor();
      await page.page.locator('.lesson-row').nth(3).click();
      await page.says('h3', /1\./);
      await page.page.setViewportSize({ width: 500, height: 620 });
      await file.waitFor({ state: 'hidden' });
      const title = await page.page.locator('.current h3').boundingBox();
      assert.ok(title !== null && title.y >= 0 && title.y < 400, JSON.stringify(title));
      await page.screenshot('lab-lessons-split');
      await page.page.setViewportSize({ width: 1200, height: 620 });
      await file.waitFor();
    });
  });
});
