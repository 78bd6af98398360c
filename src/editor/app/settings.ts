import { ConfigurationTarget, workspace } from 'vscode';
import type { AssociationRule } from '../../core/associations.ts';
import type { DetectorOptions } from '../../core/findings/options.ts';
import { thresholdsFrom } from '../findings/thresholds.ts';
import { readResponsibilities, responsibilityPresets, type Responsibility } from '../../core/responsibility.ts';
import { settingIds } from './ids.ts';
import { translated } from './translated.ts';
import { inWords } from '../../base/message.ts';

/** How the extension writes; from the settings, read anew at each write. */
export interface WriteSettings {
  readonly fieldManager: string;
  readonly strategy: 'replace' | 'apply' | 'json-patch' | 'merge-patch' | 'strategic';
  readonly maxAttempts: number;
  readonly timeoutMs: number;
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
  /** When repetition becomes a finding; what is not set has the default of the findings' documentation. */
  thresholds: (): DetectorOptions => ({
    ...thresholdsFrom(get<Record<string, number>>(settingIds.thresholds, {})),
    externalReferences: get<string[]>(settingIds.externalReferences, []),
    responsibilities: settings.responsibilities(),
    translate: translated,
  }),
  muted: (): Readonly<Record<string, string>> => get<Record<string, string>>(settingIds.mutedFindings, {}),
  /** What is declared, and what everybody meets unless that is switched off. */
  responsibilities: (): readonly Responsibility[] => [
    ...readResponsibilities(get<unknown>(settingIds.responsibilities, [])).rules,
    ...(get(settingIds.responsibilityPresets, true) ? responsibilityPresets : []),
  ],
  /** What is wrong with declarations that therefore do not hold, in words. */
  responsibilityProblems: (): readonly string[] =>
    readResponsibilities(get<unknown>(settingIds.responsibilities, [])).problems.map((problem) =>
      inWords(problem, translated),
    ),
  /** By which annotations or fields things outside the cluster are found that belong to objects. */
  associations: (): readonly AssociationRule[] => get<AssociationRule[]>(settingIds.associations, []),
  /** Whether terminals find `object-versions`. */
  commandLineInTerminals: (): boolean => get(settingIds.commandLineInTerminals, true),
  requestsPerSecond: (): number => Math.max(1, get(settingIds.requestsPerSecond, 50)),
};

/** Changes one setting where it is defined most specifically: the workspace if it has one, else the user's. */
export async function changeSetting(name: string, value: unknown): Promise<void> {
  const configuration = workspace.getConfiguration('objectVersions');
  const inWorkspace = configuration.inspect(name)?.workspaceValue !== undefined;
  await configuration.update(name, value, inWorkspace ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
}
