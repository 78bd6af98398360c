import { readFile } from 'node:fs/promises';
import { AppError, messageOf } from '../base/appError.ts';
import type { Json } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';
import type { Finding } from '../core/findings/finding.ts';
import type { DetectorOptions } from '../core/findings/options.ts';
import {
  allowanceOf,
  expiredFor,
  failsOn,
  isAsked,
  readAllowances,
  readFailOn,
  type Allowance,
  type FailOn,
} from '../core/findings/report/allow.ts';
import type { FindingsReport } from '../core/findings/report/report.ts';
import { readResponsibilities, responsibilityPresets } from '../core/responsibility.ts';
import { exitCodes, type ExitCode } from './exitCodes.ts';
import type { CliIo } from './io.ts';

/** The options by which findings are made and decide an exit code. */
export interface FailOptions {
  failOn?: string;
  allow?: string;
  responsibilities?: string;
}

/** What `--fail-on`, `--allow` and `--responsibilities` said, read before any work begins. */
export interface FailRules {
  readonly failOn: FailOn;
  readonly allowances: readonly Allowance[];
  readonly detector: DetectorOptions;
}

/**
 * Reads `--fail-on`, the allow file and the declared responsibilities.
 * @throws AppError `usage`
 */
export async function readFailRules(options: FailOptions): Promise<FailRules> {
  const failOn = readFailOn(options.failOn ?? '');
  if ('problem' in failOn) throw new AppError('usage', `${failOn.problem}.`);
  return {
    failOn,
    allowances: options.allow === undefined ? [] : await readAllowFile(options.allow),
    detector: options.responsibilities === undefined ? {} : await readDeclaredFile(options.responsibilities),
  };
}

/** Responsibilities as the editor's setting has them; the presets hold besides. */
async function readDeclaredFile(path: string): Promise<DetectorOptions> {
  const { rules, problems } = readResponsibilities(await readYamlFile('file of responsibilities', path));
  if (problems.length > 0)
    throw new AppError('usage', `${path}: ${problems.join('; ')}.`, {
      advice: 'Every entry has a kind, a path, a manager and a reason.',
    });
  return { responsibilities: [...rules, ...responsibilityPresets] };
}

async function readYamlFile(what: string, path: string): Promise<Json> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new AppError('usage', `The ${what} ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const { value, problems } = parseYaml(text);
  const [problem] = problems;
  if (problem !== undefined) throw new AppError('usage', `The ${what} ${path} is not valid YAML: ${problem.message}`);
  return value ?? [];
}

async function readAllowFile(path: string): Promise<Allowance[]> {
  const { allowances, problems } = readAllowances(await readYamlFile('allow file', path));
  if (problems[0] !== undefined)
    throw new AppError('usage', `${path}: ${problems.join(' ')}`, {
      advice: 'Every entry has an id, a reason and an expiry.',
    });
  return allowances;
}

/** Sorts findings into those that count and those that are allowed, and says which allowances have expired. */
export function makeReport(
  findings: readonly Finding[],
  rules: FailRules,
  rest: Omit<FindingsReport, 'findings' | 'allowed'>,
  now: number,
): FindingsReport {
  const counted: Finding[] = [];
  const allowed: { finding: Finding; allowance: Allowance }[] = [];
  for (const finding of findings) {
    const allowance = allowanceOf(finding, rules.allowances, now);
    if (allowance === undefined) counted.push(finding);
    else allowed.push({ finding, allowance });
  }
  const expired = expiredFor(counted, rules.allowances, now).map(
    (entry) => `The allowance of ${entry.id} ("${entry.reason}") has expired.`,
  );
  return { ...rest, findings: counted, allowed, notes: [...rest.notes, ...expired] };
}

/** The exit code that the findings decide. Where some of what passed is in no finding, "none" decides nothing. */
export function findingsExit(report: FindingsReport, rules: FailRules): ExitCode {
  const { failOn } = rules;
  if (report.findings.some((finding) => failsOn(finding, failOn))) return exitCodes.findings;
  return isAsked(failOn) && Number(report.notAnalysed['eventsUnkept'] ?? 0) > 0 ? exitCodes.failed : exitCodes.done;
}

/** Reads YAML as Kubernetes does; used for apply bodies. Text that is not YAML throws. */
export function yamlValue(text: string): NonNullable<ReturnType<typeof parseYaml>['value']> | null {
  const reading = parseYaml(text);
  const [problem] = reading.problems;
  if (problem !== undefined) throw new AppError('invalid-yaml', problem.message);
  return reading.value ?? null;
}

/** Says the notes of a report on stderr where the format itself has no place for them. */
export function sayNotes(report: FindingsReport, io: CliIo): void {
  for (const note of report.notes) io.stderr(`${note}\n`);
}
