// Makes the pictures of the README from the real product: the extension in a VS Code, on the lively sandbox.
//   node scripts/pictures.mjs
import { bootstrap, root, say } from './bootstrap.mjs';
await bootstrap(import.meta.url);
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBrowser } from './browser.mjs';

const out = join(root, 'docs', 'pictures');
/** How long the sandbox lives before a picture is taken: long enough for a conflict, a recreation and a takeover. */
const livelyMs = 75_000;

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
  for (const scheme of ['dark', 'light']) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 860 }, colorScheme: scheme });
    await page.goto(url);
    say(`waiting for the ${scheme} picture …`);
    await page.waitForTimeout(livelyMs);
    await page.screenshot({ path: join(out, `tree-and-timeline-${scheme}.png`) });
    await page.close();
  }
  await browser.close();
} finally {
  started.kill('SIGTERM');
}
