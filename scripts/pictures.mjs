// Makes the pictures of the README and the documentation from the real product: the extension in a VS Code, on the lively sandbox.
//   node scripts/pictures.mjs
import { bootstrap, root, say } from './bootstrap.mjs';
await bootstrap(import.meta.url);
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBrowser } from './browser.mjs';

const out = join(root, 'docs', 'pictures');
/** What there is to see before a picture is taken: a fight and a recreation, and two minutes of them. */
const lively = /undo each other[\s\S]*Recreated/;
const livelyMs = 120_000;
/** How long a change of the theme, or of what is shown, takes at most. */
const settleMs = 5000;

/** The themes that VS Code takes up from the system by itself. */
const themes = {
  dark: { colorScheme: 'dark' },
  light: { colorScheme: 'light' },
  'high-contrast-dark': { colorScheme: 'dark', forcedColors: 'active' },
  'high-contrast-light': { colorScheme: 'light', forcedColors: 'active' },
};

const started = spawn(process.execPath, [join(root, 'scripts/start.mjs'), '--browser'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await new Promise((found, failed) => {
    let text = '';
    started.stdout.on('data', (chunk) => {
      text += chunk;
      const address = /http:\/\/127\.0\.0\.1:\S+/.exec(text);
      if (address) found(address[0]);
    });
    started.once('exit', (code) => failed(new Error(`npm start ended with ${code}`)));
  });
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath: ensureBrowser(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  });
  mkdirSync(out, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 1400, height: 860 }, ...themes.dark });
  const take = (name) => page.screenshot({ path: join(out, `${name}.png`) });
  await page.goto(url);
  say('waiting until there is something to see …');
  await livelyTimeline(page);
  for (const [theme, scheme] of Object.entries(themes)) {
    say(`the picture in ${theme} …`);
    await page.emulateMedia({ forcedColors: 'none', ...scheme });
    await page.waitForTimeout(settleMs);
    await take(`tree-and-timeline-${theme}`);
  }
  await page.emulateMedia({ forcedColors: 'none', ...themes.dark });
  await page.waitForTimeout(settleMs);
  await selectConflict(page);
  await page.keyboard.press('e');
  await page.waitForTimeout(settleMs);
  await take('conflict-dark');
  // Last, as its objects stay on the timeline.
  await runCommand(page, 'Open the Contention Lab');
  const lab = await webviewWith(page, '.contention');
  await lab.getByRole('checkbox', { name: /^Teacher/ }).check();
  await lab.getByRole('button', { name: 'Start' }).click();
  await lab.getByRole('button', { name: 'Cancel' }).waitFor();
  await lab.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'hidden', timeout: 120_000 });
  await take('contention-dark');
  await browser.close();
} finally {
  started.kill('SIGTERM');
}

/** The page of a webview, which lies in frames of frames, by something in it. */
async function webviewWith(page, selector) {
  for (let tries = 0; tries < 600; tries += 1) {
    for (const frame of page.frames())
      if (
        (await frame
          .locator(selector)
          .count()
          .catch(() => 0)) > 0
      )
        return frame;
    await page.waitForTimeout(100);
  }
  throw new Error(`no webview shows ${selector}`);
}

/** Waits until the timeline has so much to show, and then for a while. */
async function livelyTimeline(page) {
  const timeline = await webviewWith(page, '.overview');
  await timeline.locator('.overview', { hasText: lively }).waitFor({ timeout: 300_000 });
  await page.waitForTimeout(livelyMs);
}

/** The last conflict of the lane on which they are, by keyboard, as anyone gets there. */
async function selectConflict(page) {
  const timeline = await webviewWith(page, '.chart');
  await timeline.locator('.row.lane', { hasText: 'settings' }).click();
  await timeline.locator('.chart').focus();
  await page.keyboard.press('End');
  const conflict = timeline.locator('.sr-only[role="status"]', { hasText: /^version conflict/ });
  const explained = timeline.locator('.details', { hasText: 'Who made progress' });
  for (let tries = 0; tries < 40; tries += 1) {
    await page.keyboard.press('ArrowLeft');
    // What is selected is said at once, its details are asked for.
    const found = await conflict.waitFor({ state: 'attached', timeout: 1000 }).then(
      () => explained.waitFor({ timeout: 20_000 }),
      () => false,
    );
    if (found !== false) return;
  }
  throw new Error('there is no conflict on the timeline');
}

async function runCommand(page, title) {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input').waitFor();
  await page.keyboard.type(`Object Versions: ${title}`);
  await page.waitForTimeout(500);
  await page.keyboard.press('Enter');
}
