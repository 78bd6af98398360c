import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { closeAll, extension, set, until } from '../extension.ts';

/** How long VS Code may take for a terminal. */
const LIMIT_MS = 10_000;
const SCHEME = 'ENVIRONMENT_CHANGES_COLLECTION';

describe('the command line in terminals', () => {
  before(extension);
  afterEach(async () => {
    await set('terminal.commandLine', undefined);
    await closeAll();
  });

  /** What extensions change in the environment of a new terminal, as VS Code shows it. */
  async function changes(): Promise<string> {
    const terminal = vscode.window.createTerminal({ name: 'a terminal' });
    terminal.show();
    try {
      return await until(
        'the environment’s changes',
        async () => {
          await vscode.commands.executeCommand('workbench.action.terminal.showEnvironmentContributions');
          const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme.toUpperCase() === SCHEME);
          return shown?.getText();
        },
        LIMIT_MS,
      );
    } finally {
      terminal.dispose();
      await closeAll();
    }
  }

  it('is on their PATH, and runs with the Node of the extensions where there is no other', async function () {
    this.timeout(60_000);
    if (process.platform === 'win32') this.skip();
    const text = await changes();
    const bin = join(vscode.extensions.getExtension('object-versions.object-versions')?.extensionPath ?? '', 'bin');
    assert.ok(text.includes(`\`PATH=\${env:PATH}:${bin}\``), text);
    assert.ok(text.includes(`\`OBJECT_VERSIONS_NODE=${process.execPath}\``), text);
    const env = { PATH: bin, OBJECT_VERSIONS_NODE: process.execPath };
    const ran = spawnSync('/bin/sh', ['-c', 'object-versions get --help && kubectl-object_versions --version'], {
      env,
      encoding: 'utf8',
    });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /Usage: object-versions get [\s\S]*\n\d+\.\d+\.\d+\n$/);
  });

  it('is not where a setting says so', async function () {
    this.timeout(60_000);
    await set('terminal.commandLine', false);
    // VS Code shows nothing where nothing is changed.
    const text = await changes().catch(() => '');
    assert.ok(!text.includes('object-versions'), text);
  });
});
