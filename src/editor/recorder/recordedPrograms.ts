import { ShellExecution, Task, TaskScope, tasks, TerminalProfile, ThemeIcon, window, type Disposable } from 'vscode';
import type { Editor } from '../app/editor.ts';
import { commandIds, recordedIds } from '../app/ids.ts';

/** What a program is started with, so that it is recorded. */
export interface RecordedEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** A file with the same variables, one `NAME=value` a line, as debuggers read it (`envFile`). */
  readonly envFile: string;
}

/**
 * Ways to start a program behind the recorder, which is started where none is running: a terminal profile, a task type, and
 * for launch configurations of any debugger `"envFile": "${command:objectVersions.recorderEnvFile}"`.
 */
export function registerRecordedPrograms(
  editor: Editor,
  environment: (client: string) => Promise<RecordedEnvironment>,
): Disposable[] {
  return [
    window.registerTerminalProfileProvider(recordedIds.terminalProfile, {
      provideTerminalProfile: async () => {
        const client = 'terminal';
        const { variables } = await environment(client);
        return new TerminalProfile({ name: client, env: variables, iconPath: new ThemeIcon('record') });
      },
    }),
    tasks.registerTaskProvider(recordedIds.taskType, {
      provideTasks: () => [],
      resolveTask: async (task) => {
        const { command, args, client } = task.definition as { command?: unknown; args?: unknown; client?: unknown };
        if (typeof command !== 'string' || command === '') return undefined;
        const { variables } = await environment(clientName(typeof client === 'string' ? client : task.name));
        const options = { env: { ...variables } };
        const given = Array.isArray(args) ? args.map(String) : undefined;
        const run =
          given === undefined ? new ShellExecution(command, options) : new ShellExecution(command, given, options);
        return new Task(task.definition, task.scope ?? TaskScope.Workspace, task.name, 'Object Versions', run);
      },
    }),
    editor.command(commandIds.recorderEnvFile, async (configuration: unknown) => {
      const name = (configuration as { name?: unknown } | undefined)?.name;
      const { envFile } = await environment(clientName(typeof name === 'string' ? name : 'debugger'));
      return envFile;
    }),
  ];
}

/** A name as the recorder's clients have it, out of what a person called a task or a launch configuration. */
function clientName(text: string): string {
  const name = text
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63);
  return name === '' ? 'program' : name;
}
