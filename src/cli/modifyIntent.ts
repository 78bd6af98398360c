import { readFile } from 'node:fs/promises';
import { AppError, messageOf } from '../base/appError.ts';
import { untilAborted } from '../base/clock.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';
import type { Path } from '../codec/path.ts';
import { editablePath } from '../write/editablePath.ts';
import type { Intent } from '../write/intent.ts';
import type { CliIo } from './io.ts';
import { loadScript } from './scriptFile.ts';
import type { TimeLimit } from './timeLimit.ts';

/** The options of `modify` that say what is wanted; exactly one of the four forms. */
export interface IntentOptions {
  set?: readonly string[];
  remove?: readonly string[];
  edited?: string;
  base?: string;
  script?: string;
  release?: string;
}

/** What `modify` is asked for: a change, or to give up what our field manager claims of a field, whose value stays. */
export type Wish = Intent | { readonly kind: 'release'; readonly path: Path };

/**
 * What the options describe.
 * @throws AppError `usage`, `invalid-path`, `invalid-yaml`, `script-failed`
 */
export async function wishFrom(options: IntentOptions, limit: TimeLimit, io: CliIo): Promise<Wish> {
  const changes = (options.set ?? []).length + (options.remove ?? []).length > 0;
  const edits = options.edited !== undefined || options.base !== undefined;
  const forms = [changes, edits, options.script !== undefined, options.release !== undefined];
  if (forms.filter(Boolean).length !== 1) {
    throw new AppError(
      'usage',
      'Say what is to change in one way: --set and --remove, or --edited with --base, or --script, or --release.',
    );
  }
  if (options.release !== undefined) return { kind: 'release', path: pathFrom(options.release) };
  const { script } = options;
  if (script !== undefined) {
    return { kind: 'function', compute: await limit.within(async () => loadScript(script, limit.remainingMs)) };
  }
  if (edits) {
    if (options.edited === undefined || options.base === undefined) {
      throw new AppError('usage', '--edited and --base belong together.', {
        advice: 'Give the object as it was read with --base: what differs from it is the edit.',
      });
    }
    return { kind: 'edits', base: await readObject(options.base, io), desired: await readObject(options.edited, io) };
  }
  return { kind: 'changes', set: (options.set ?? []).map(parseSet), remove: (options.remove ?? []).map(removedPath) };
}

/** `PATH=JSON`; the path may hold `=` inside brackets. */
function parseSet(text: string): readonly [Path, Json] {
  const at = text.startsWith('/') ? text.indexOf('=') : equalsOutsideBrackets(text);
  if (at <= 0) throw new AppError('usage', `"${text}" is not PATH=JSON.`, { advice: `Such as --set spec.replicas=3.` });
  const value = text.slice(at + 1);
  try {
    return [pathFrom(text.slice(0, at)), parseJson(value)];
  } catch (error) {
    if (error instanceof AppError && error.code !== 'invalid-json') throw error;
    throw new AppError('usage', `The value of "${text.slice(0, at)}" is not JSON.`, {
      advice: `A text needs its quotes, which the shell takes away: --set '${text.slice(0, at)}="text"'.`,
      cause: error,
    });
  }
}

function equalsOutsideBrackets(text: string): number {
  let [depth, quoted] = [0, false];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted && letter === '\\') at += 1;
    else if (letter === '"' && depth > 0) quoted = !quoted;
    else if (quoted) continue;
    else if (letter === '[') depth += 1;
    else if (letter === ']') depth -= 1;
    else if (letter === '=' && depth === 0) return at;
  }
  return -1;
}

function pathFrom(text: string): Path {
  const read = editablePath(text);
  if ('path' in read) return read.path;
  throw new AppError('invalid-path', read.problem, {
    advice: 'Write it as spec.replicas, .data["a.b"] or /data/a.b; which incarnation is meant is said with --uid.',
  });
}

function removedPath(text: string): Path {
  const path = pathFrom(text);
  const [first, ...rest] = path;
  if (first === undefined || !('field' in first) || first.field !== 'status' || rest.length > 0) return path;
  throw new AppError('invalid-path', 'The status as a whole cannot be removed: an object without one has it hidden.', {
    advice: 'Remove its members: --remove status.conditions.',
  });
}

async function readObject(file: string, io: CliIo): Promise<JsonObject> {
  const text = file === '-' ? await untilAborted(readAll(io.stdin), io.signal) : await readText(file);
  const reading = parseYaml(text);
  const problem = reading.problems[0];
  if (problem !== undefined) {
    const more = reading.problems.slice(1).map(({ line, column, message }) => ` ${line}:${column}: ${message}`);
    throw new AppError(
      'invalid-yaml',
      `${file}:${problem.line}:${problem.column}: ${problem.message}${more.join('')}`,
      {
        details: { line: problem.line, column: problem.column },
      },
    );
  }
  if (!isJsonObject(reading.value)) throw new AppError('invalid-yaml', `${file} holds no object.`);
  return reading.value;
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new AppError('usage', `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
