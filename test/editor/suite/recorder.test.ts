import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, metadata, must, namespace } from '../apiServer.ts';
import { closeAll, extension, folder, until, useKubeconfig } from '../extension.ts';
import { recorded, recordedFile, through } from '../recorded.ts';
import { needWindow, press, texts } from '../window.ts';

describe('the recorder, started in the editor', () => {
  let api: ObjectVersionsApi;
  let ns: string;

  before(async () => {
    api = await extension();
    await useKubeconfig({ recorded: { server: apiServer.url.origin } });
    ns = await namespace('recorded');
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('seen', { x: '1' }));
  });

  after(async () => {
    await vscode.commands.executeCommand('objectVersions.stopRecording');
    await closeAll();
  });

  it('gives a kubeconfig, and what a program does through it appears under its name', async function () {
    needWindow(this);
    const starting = vscode.commands.executeCommand('objectVersions.recordController');
    await until('the question for its name', async () => {
      const shown = await texts('.quick-input-widget');
      return shown?.some((text) => text.includes('What is it called?')) === true ? true : undefined;
    });
    await press('Enter');
    const file = await until(
      'the kubeconfig',
      () => globSync(join(dirname(folder), 'server', '**', `recorder-${process.pid}-controller.kubeconfig`))[0],
    );
    const config = recorded(file);
    assert.equal(
      readFileSync(file, 'utf8').includes(apiServer.token),
      false,
      'no credential of the person goes to the program',
    );
    const path = `/api/v1/namespaces/${ns}/configmaps/seen`;
    const read = await through(config, 'GET', path);
    await must('PUT', path, { ...(read.body as object), data: { x: '2' } });
    const late = await through(config, 'PUT', path, { ...(read.body as object), data: { x: '3' } });
    assert.equal(late.status, 409);
    const write = await until('the refused write', () =>
      [...api.history().names.values()]
        .flatMap(({ writes }) => writes)
        .find(({ outcome, via, name }) => outcome === 'version-conflict' && via === 'recorder' && name.name === 'seen'),
    );
    assert.equal(write.actor.client, 'controller');
    assert.equal(write.basedOn?.token, metadata(read.body as never)['resourceVersion']);
    await vscode.commands.executeCommand('notifications.clearAll');
    await starting;
  });

  it('a task of its type runs with the recorder as its cluster, under the name of the task', async function () {
    if (!startsTerminals()) this.skip();
    const told = join(folder, 'task-env');
    mkdirSync(join(folder, '.vscode'), { recursive: true });
    const file = join(folder, '.vscode', 'tasks.json');
    const args = ['-c', `printenv KUBECONFIG USE_EXISTING_CLUSTER > ${told}`];
    const task = { label: 'my operator', type: 'objectVersions.recorded', command: 'sh', args };
    writeFileSync(file, JSON.stringify({ version: '2.0.0', tasks: [task] }));
    try {
      const found = await until('the task', async () =>
        (await vscode.tasks.fetchTasks({ type: task.type })).find(({ name }) => name === task.label),
      );
      await vscode.tasks.executeTask(found);
      const [config, existing] = await until('what the task was started with', () =>
        existsSync(told) && readFileSync(told, 'utf8').endsWith('\n')
          ? readFileSync(told, 'utf8').split('\n')
          : undefined,
      );
      assert.equal(existing, 'true');
      await actsAs('my-operator', config ?? '');
    } finally {
      rmSync(file, { force: true });
      rmSync(told, { force: true });
    }
  });

  it('a launch configuration names its environment file, which every debugger reads', async () => {
    await actsAs('Debug-op', await recordedFile('Debug: op'));
  });

  it('a terminal of its profile is recorded too', async () => {
    await vscode.commands.executeCommand('workbench.action.terminal.newWithProfile', {
      config: {
        extensionIdentifier: 'object-versions.object-versions',
        id: 'objectVersions.recordedTerminal',
        title: 'R',
      },
    });
    const terminal = await until('the terminal', () => vscode.window.terminals.find(({ name }) => name === 'terminal'));
    const { env } = terminal.creationOptions as vscode.TerminalOptions;
    await actsAs('terminal', env?.['KUBECONFIG'] ?? '');
    terminal.dispose();
  });

  /** What is done with a kubeconfig of the recorder is recorded as this client's. */
  async function actsAs(client: string, file: string): Promise<void> {
    const config = recorded(file);
    const path = `/api/v1/namespaces/${ns}/configmaps/of-${client.toLowerCase()}`;
    const made = await through(
      config,
      'POST',
      path.replace(/\/[^/]+$/, ''),
      configMap(`of-${client.toLowerCase()}`, {}),
    );
    assert.equal(made.status, 201);
    await until(`a write of ${client}`, () =>
      [...api.history().names.values()].flatMap(({ writes }) => writes).find(({ actor }) => actor.client === client),
    );
  }
});

/** Whether this VS Code has the native part that terminals need: one that was installed without its build steps lacks it. */
function startsTerminals(): boolean {
  const places = ['node_modules', 'node_modules.asar.unpacked'].map((place) =>
    join(vscode.env.appRoot, place, 'node-pty'),
  );
  return places.some(
    (place) => existsSync(place) && globSync('{build/Release,prebuilds/*}/pty.node', { cwd: place }).length > 0,
  );
}
