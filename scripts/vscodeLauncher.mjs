#!/usr/bin/env node
// An executable that understands the arguments with which @vscode/test-electron starts VS Code, and runs the same tests in
// the extension host of a VS Code server with a headless Chromium as its window. Exits with the code of the tests.
//
// Environment: OBJECT_VERSIONS_VSCODE  which one of vscodeVersions (default stable)
//              OBJECT_VERSIONS_SCREENSHOTS  a folder for pictures of the window
//              OBJECT_VERSIONS_LANGUAGE  the display language, such as de (default English)
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { ensureBrowser } from './browser.mjs';
import { ensureVSCode, startVSCodeServer, writeSettings } from './vscodeServer.mjs';

/** Arguments with which Chromium runs headless in containers, offline. */
const browserArguments = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];
const LIMIT_MS = Number(process.env.OBJECT_VERSIONS_TEST_LIMIT_MS ?? 600_000);

const options = readArguments(process.argv.slice(2));
const portFile = join(options.userDataDir, 'port');
const which = process.env.OBJECT_VERSIONS_VSCODE ?? 'stable';
const screenshots = process.env.OBJECT_VERSIONS_SCREENSHOTS;
const verbose = process.env.OBJECT_VERSIONS_VERBOSE !== undefined;
/** What a server without its native modules and without a marketplace says, and what means nothing here. */
const noise = [
  'Could not locate the bindings file',
  "'./build/Release/watchdog'",
  'Ignoring fetching additional builtin',
  'No extension gallery service',
  '[Service Worker]',
  'Creating a socket',
  'connection token',
  '[reconnection-grace-time]',
  '[AgentHost:remote]',
  '[AccountPolicyGate]',
  'handleSaveError',
  "authentication provider 'github'",
  'workbench.contrib.',
];
const cleanUp = [];
let code = 1;
try {
  code = await runTests();
} catch (error) {
  console.error(error);
}
for (const step of cleanUp.toReversed()) await step().catch((error) => console.error(error));
process.exit(code);

function readArguments(args) {
  const read = {
    folder: undefined,
    extensionDevelopmentPath: undefined,
    extensionTestsPath: undefined,
    userDataDir: undefined,
    extensionsDir: undefined,
  };
  const known = {
    extensionDevelopmentPath: 'extensionDevelopmentPath',
    extensionTestsPath: 'extensionTestsPath',
    'user-data-dir': 'userDataDir',
    'extensions-dir': 'extensionsDir',
  };
  for (let index = 0; index < args.length; index += 1) {
    const found = /^--([\w-]+)(?:=(.*))?$/s.exec(args[index]);
    if (found === null) read.folder ??= args[index];
    else if (Object.hasOwn(known, found[1])) read[known[found[1]]] = resolve(found[2] ?? args[(index += 1)]);
  }
  for (const name of ['extensionDevelopmentPath', 'extensionTestsPath', 'userDataDir', 'extensionsDir']) {
    if (read[name] === undefined) throw new Error(`The argument for ${name} is missing.`);
  }
  return read;
}

async function runTests() {
  const installed = await ensureVSCode({ which, log: (line) => console.error(line) });
  const executablePath = ensureBrowser();
  await writeSettings(
    join(options.userDataDir, 'server'),
    JSON.parse(process.env.OBJECT_VERSIONS_TEST_SETTINGS ?? '{}'),
  );
  const window = { page: undefined };
  const remote = await serveWindow(window);
  const token = randomBytes(16).toString('hex');
  const server = await startVSCodeServer({
    installed,
    port: await usualPort(),
    dataDir: join(options.userDataDir, 'server'),
    extensionsDir: options.extensionsDir,
    token,
    testDriver: true,
    env: { OBJECT_VERSIONS_WINDOW: remote },
    onOutput: verbose ? (text) => process.stderr.write(text) : undefined,
  });
  cleanUp.push(server.stop);
  await writeFile(portFile, String(server.port));
  const context = await chromium.launchPersistentContext(join(options.userDataDir, `browser-${which}`), {
    executablePath,
    args: browserArguments,
    viewport: { width: 1400, height: 900 },
  });
  cleanUp.push(() => context.close());
  const language = process.env.OBJECT_VERSIONS_LANGUAGE;
  // What a language pack makes of the workbench: the server reads it, and the extensions get their texts in it.
  if (language !== undefined)
    await context.addInitScript((tag) => {
      globalThis._VSCODE_NLS_LANGUAGE = tag;
    }, language);
  const page = context.pages()[0] ?? (await context.newPage());
  window.page = page;
  const exit = new Promise((done) => {
    void page.exposeFunction('codeAutomationExit', (status) => done(Number(status)));
    void page.exposeFunction('codeAutomationLog', (type, args) => {
      const text = args.map(String).join(' ');
      if (verbose || !noise.some((part) => text.includes(part))) console.log(...args);
    });
    page.on('pageerror', (error) => console.error(`In the window: ${error.message}`));
    page.on('crash', () => done(1));
  });
  let timer;
  const limit = new Promise((done) => {
    timer = setTimeout(() => {
      console.error(`The tests in VS Code did not end in ${LIMIT_MS / 1000} s.`);
      done(1);
    }, LIMIT_MS);
  });
  await page.goto(address(server.port, token));
  const status = await Promise.race([exit, limit]);
  clearTimeout(timer);
  if (status !== 0) await screenshot(page, 'at-the-end');
  // What the window keeps over a restart is written a moment after it changed.
  await new Promise((later) => setTimeout(later, 1000));
  return status;
}

/** The port of the last run with this user data, while it is free: a browser keeps a window's state by its address. */
async function usualPort() {
  const port = Number(await readFile(portFile, 'utf8').catch(() => '0'));
  if (port === 0) return 0;
  const probe = createServer();
  return new Promise((free) => {
    probe.once('error', () => free(0));
    probe.listen(port, '127.0.0.1', () => probe.close(() => free(port)));
  });
}

function address(port, token) {
  const remote = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = [
    ['extensionDevelopmentPath', remote(options.extensionDevelopmentPath)],
    ['extensionTestsPath', remote(options.extensionTestsPath)],
  ];
  const query = new URLSearchParams({ tkn: token, payload: JSON.stringify(payload) });
  if (options.folder === undefined) query.set('ew', 'true');
  else query.set('folder', resolve(options.folder));
  return `http://127.0.0.1:${port}/?${query}`;
}

async function screenshot(page, name) {
  if (screenshots === undefined) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `vscode-${which}-${name}.png`) });
}

/** Lets the tests look at the window and use its keyboard and pointer: POST one JSON request to the returned address. */
async function serveWindow(window) {
  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      if (request.url !== `/${secret}`) {
        response.writeHead(404).end();
        return;
      }
      useWindow(window.page, JSON.parse(text)).then(
        (value) => response.writeHead(200).end(JSON.stringify({ value: value ?? null })),
        (error) => response.writeHead(500).end(JSON.stringify({ error: String(error) })),
      );
    });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  cleanUp.push(() => new Promise((done) => server.close(done).closeAllConnections()));
  return `http://127.0.0.1:${server.address().port}/${secret}`;
}

async function useWindow(page, request) {
  switch (request.do) {
    case 'screenshot':
      return screenshot(page, request.name);
    case 'texts':
      return texts(page, request.selector);
    case 'press':
      return page.keyboard.press(request.key);
    case 'type':
      return page.keyboard.type(request.text);
    case 'click':
      return clickAnywhere(page, request.selector, request.button ?? 'left');
    case 'resize':
      return page.setViewportSize(request.size);
    default:
      throw new Error(`The window cannot do "${request.do}".`);
  }
}

/** The visible texts that a selector finds, placeholders of inputs included, in the window and in the frames of its webviews. */
async function texts(page, selector) {
  const found = [];
  const textOf = (elements) =>
    elements
      .filter((element) => element.checkVisibility())
      .map((element) =>
        [element.innerText, ...[...element.querySelectorAll('input')].map((input) => input.placeholder)].join('\n'),
      );
  for (const frame of page.frames()) {
    const part = await frame
      .locator(selector)
      .evaluateAll(textOf)
      .catch(() => []);
    found.push(...part);
  }
  return found;
}

async function clickAnywhere(page, selector, button) {
  for (const frame of page.frames()) {
    const target = frame.locator(selector).first();
    if ((await target.count().catch(() => 0)) > 0) {
      await target.click({ button, timeout: 5000 });
      return true;
    }
  }
  return false;
}
