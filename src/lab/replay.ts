import { throwIfAborted } from '../base/clock.ts';
import type { Server } from '../base/server.ts';
import type { JsonObject } from '../codec/json.ts';
import { errorOf } from '../kube/answers.ts';
import { LabClient, type LabClientOptions } from './labClient.ts';
import { MadeObjects } from './removal.ts';
import { replaySteps, type ReplayState, type ReplayStep } from './replaySteps.ts';

/** What one step expected, what the server really answered, and whether the two agree. */
export interface StepResult {
  readonly id: string;
  readonly title: string;
  readonly expected: JsonObject;
  readonly observed: JsonObject;
  readonly holds: boolean;
  readonly lesson: string;
}

/** The whole replay. `holds`: the server behaved as the contract says in every step. */
export interface ReplayResult {
  readonly steps: readonly StepResult[];
  readonly holds: boolean;
}

/** Where the replay runs and who is asked and told. */
export interface ReplayOptions extends LabClientOptions {
  readonly namespace: string;
  /** A word that makes the object's name the lab's own; lower case letters and digits. */
  readonly suffix: string;
  /** Asked before a step runs; what it returns is the learner's prediction, for `onStep`. */
  readonly predict?: (step: ReplayStep) => Promise<string | undefined>;
  readonly onStep?: (result: StepResult, step: ReplayStep, prediction: string | undefined) => void;
}

/**
 * The equality-token replay: two writers, one ConfigMap, and after each step the server's real answer held against the
 * contract. The object is removed afterwards, also when the replay is interrupted or a step fails.
 * @throws AppError `cancelled` when the signal aborts, after the clean-up; `unauthenticated`, `forbidden`
 */
export async function runReplay(options: ReplayOptions): Promise<ReplayResult> {
  const client = new LabClient({ ...options, server: permitting(options.server) });
  const name = `versions-replay-${options.suffix}`;
  const collection = `/api/v1/namespaces/${options.namespace}/configmaps`;
  const state: ReplayState = {
    name,
    collection,
    path: `${collection}/${name}`,
    objects: new Map(),
    made: new MadeObjects(),
    client,
  };
  const steps: StepResult[] = [];
  try {
    for (const step of replaySteps) {
      const prediction = await options.predict?.(step);
      throwIfAborted(options.signal);
      const observed = await step.run(state);
      const expected = step.expected;
      const holds = Object.keys(expected).every((key) => expected[key] === observed[key]);
      const result: StepResult = { id: step.id, title: step.title, expected, observed, holds, lesson: step.lesson };
      steps.push(result);
      options.onStep?.(result, step, prediction);
      if (!holds && step.essential === true) break;
    }
  } finally {
    await state.made.remove(client);
  }
  return { steps, holds: steps.length === replaySteps.length && steps.every((step) => step.holds) };
}

/** Not being allowed to do something says nothing about what the contract promises: that is no answer to hold against it. */
function permitting(server: Server): Server {
  return {
    send: async (request, signal) => {
      const reply = await server.send(request, signal);
      if (reply.status === 401 || reply.status === 403) throw errorOf(reply);
      return reply;
    },
  };
}

/** A word for `ReplayOptions.suffix` that no other run uses. */
export function randomSuffix(random: () => number): string {
  return Array.from({ length: 8 }, () => 'bcdfghjklmnpqrstvwxz2456789'[Math.floor(random() * 27)]).join('');
}
