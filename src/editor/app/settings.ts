import { ConfigurationTarget, workspace } from 'vscode';
import { settingIds } from './ids.ts';

/** How the extension writes; from the settings, read anew at each write. */
export interface WriteSettings {
  readonly fieldManager: string;
  readonly strategy: 'replace' | 'apply' | 'json-patch' | 'merge-patch' | 'strategic';
  readonly maxAttempts: number;
  readonly timeoutMs: number;
}

/** Which actor is responsible for which field, as a person or a workspace declared it. */
export interface Responsibility {
  readonly kind: string;
  readonly path: string;
  readonly manager: string;
  readonly reason: string;
}

function get<T>(name: string, fallback: T): T {
  return workspace.getConfiguration('objectVersions').get<T>(name) ?? fallback;
}

/** The settings as they are now. Everything here is described in package.json. */
export const settings = {
  /** Files to read as kubeconfig, first name wins; empty: KUBECONFIG, or the one in the home folder. */
  kubeconfig: (): readonly string[] => get<string[]>(settingIds.kubeconfig, []).filter((path) => path.trim() !== ''),
  /** Watches that a workspace or machine declares, such as `deployments in shop`. */
  watches: (): readonly string[] => get<string[]>(settingIds.watches, []),
  openOnStart: (): boolean => get(settingIds.openOnStart, false),
  readOnly: (): boolean => get(settingIds.readOnly, false),
  protectedContexts: (): readonly string[] => get<string[]>(settingIds.protectedContexts, []),
  write: (): WriteSettings => ({
    fieldManager: get(settingIds.fieldManager, 'object-versions'),
    strategy: get<WriteSettings['strategy']>(settingIds.strategy, 'replace'),
    maxAttempts: get(settingIds.maxAttempts, 5),
    timeoutMs: get(settingIds.timeoutSeconds, 30) * 1000,
  }),
  keepBodies: (): boolean => get(settingIds.keepBodies, true),
  logSizeMegabytes: (): number => get(settingIds.logSizeMegabytes, 100),
  logAgeDays: (): number => get(settingIds.logAgeDays, 7),
  pageSize: (): number => get(settingIds.pageSize, 200),
  notify: (): readonly string[] => get<string[]>(settingIds.notify, []),
  muted: (): Readonly<Record<string, string>> => get<Record<string, string>>(settingIds.mutedFindings, {}),
  responsibilities: (): readonly Responsibility[] => get<Responsibility[]>(settingIds.responsibilities, []),
};

/** Changes one setting where it is defined most specifically: the workspace if it has one, else the user's. */
export async function changeSetting(name: string, value: unknown): Promise<void> {
  const configuration = workspace.getConfiguration('objectVersions');
  const inWorkspace = configuration.inspect(name)?.workspaceValue !== undefined;
  await configuration.update(name, value, inWorkspace ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
}

/** Whether a context matches one of the patterns of protected ones; `*` stands for anything. */
export function isProtected(context: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const expression = pattern
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*');
    return new RegExp(`^${expression}$`, 'i').test(context);
  });
}
