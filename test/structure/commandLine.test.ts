import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
/** A program that is this Node, with a module that runs first. */
function writeNode(file: string, first: string): void {
  const module = `data:text/javascript,${encodeURIComponent(first).replaceAll("'", '%27')}`;
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' --import '${module}' "$@"\n`);
  chmodSync(file, 0o755);
}

describe('object-versions in a terminal', () => {
  const node = dirname(process.execPath);
  let home: string;
  let bin: string;
  let tools: string;

  before(function () {
    if (process.platform === 'win32') this.skip();
    home = mkdtempSync(join(tmpdir(), 'object-versions-terminal-'));
    // Laid out as an installed extension, which has no node_modules, in a folder whose name has a space.
    const extension = join(home, 'an extension');
    bin = join(extension, 'bin');
    cpSync(join(root, 'bin'), bin, { recursive: true });
    symlinkSync(join(root, 'src'), join(extension, 'src'));
    symlinkSync(join(root, 'package.json'), join(extension, 'package.json'));
    tools = join(home, 'tools');
    mkdirSync(tools);
    // Where the system has it there may be a Node too.
    const readlink = spawnSync('sh', ['-c', 'command -v readlink'], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(readlink, join(tools, 'readlink'));
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  const runs = (folders: readonly string[], env: NodeJS.ProcessEnv = {}, program = 'object-versions') => {
    const PATH = [...folders, tools].join(delimiter);
    return spawnSync('/bin/sh', ['-c', `${program} --version`], { env: { PATH, ...env }, encoding: 'utf8' });
  };

  it('runs with the Node of the PATH', () => {
    assert.equal(runs([node, bin]).stdout.trim(), version);
  });

  it('runs with the Node that VS Code names where the PATH has none, and none is taken for granted', () => {
    assert.equal(runs([bin], { OBJECT_VERSIONS_NODE: process.execPath }).stdout.trim(), version);
    assert.equal(
      runs([bin], { OBJECT_VERSIONS_NODE: process.execPath }, 'kubectl-object_versions').stdout.trim(),
      version,
    );
    assert.notEqual(runs([bin]).status, 0);
  });

  it('runs with the Node that VS Code names where the one of the PATH is too old', () => {
    const old = join(home, 'old');
    mkdirSync(old);
    writeNode(
      join(old, 'node'),
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });",
    );
    const alone = runs([old, bin]);
    assert.deepEqual(
      [alone.status, alone.stderr.trim()],
      [1, 'object-versions needs Node 22 or newer; this is 20.1.0.'],
    );
    assert.equal(runs([old, bin], { OBJECT_VERSIONS_NODE: process.execPath }).stdout.trim(), version);
  });

  it('is Node in VS Code’s place for itself only: what it starts is not told to be', () => {
    const [vscode, told] = [join(home, 'vscode'), join(home, 'told')];
    const tell = `appendFileSync(${JSON.stringify(told)}, process.env.ELECTRON_RUN_AS_NODE + ' ')`;
    writeNode(vscode, `import { appendFileSync } from 'node:fs'; ${tell}; process.on('exit', () => ${tell});`);
    assert.equal(runs([bin], { OBJECT_VERSIONS_NODE: vscode }).stdout.trim(), version);
    assert.equal(readFileSync(told, 'utf8'), '1 undefined ');
  });

  it('is found through a link', () => {
    const links = join(home, 'links');
    mkdirSync(links);
    symlinkSync(join(bin, 'object-versions'), join(links, 'object-versions'));
    assert.equal(runs([links, node]).stdout.trim(), version);
  });

  it('is found by a shell that is given its name in its own folder', () => {
    for (const name of ['object-versions', 'kubectl-object_versions']) {
      const { stdout, stderr } = runs([node], {}, `cd '${bin}' && /bin/sh ${name}`);
      assert.deepEqual([stdout.trim(), stderr], [version, ''], name);
    }
    const asked = runs([node], {}, `cd '${bin}' && /bin/sh kubectl_complete-object_versions lab mod && :`);
    assert.equal(asked.stdout, 'modular\n:4\n');
  });
});
