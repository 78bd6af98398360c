import { AppError, isAppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { Emitter } from '../../base/emitter.ts';
import { stringifyJson, type Json } from '../../codec/json.ts';
import type { Translate } from '../../core/timeline/translate.ts';
import type { StepResult } from '../../lab/replay.ts';
import { wordsOfFact } from '../../lab/replayFacts.ts';
import type { ReplayStep } from '../../lab/replaySteps.ts';
import type { Handlers } from '../../protocol/channel.ts';
import { REPLAY_REQUESTS } from '../../protocol/lab.ts';
import type { LabExchange, StateOf } from '../../protocol/labStates.ts';
import { LabExchanges } from './labExchanges.ts';
import { reasonOf, type LabGround, type LabSession, type LabSessionParts } from './labPlaces.ts';

type State = StateOf<'replay'>;

interface Asked {
  readonly step: ReplayStep;
  answer(prediction: string): void;
}

/** The equality-token replay behind its page: each step runs only after its prediction. */
export class ReplaySession implements LabSession<'replay', typeof REPLAY_REQUESTS> {
  readonly page = 'replay';
  readonly requests = REPLAY_REQUESTS;
  readonly handlers: Handlers<typeof REPLAY_REQUESTS> = {
    replayStart: async (_params, signal) => this.start(signal),
    replayStep: async ({ prediction }) => this.step(prediction),
    replayStop: async () => this.stop(),
  };
  private readonly parts: LabSessionParts;
  private readonly changed: Emitter<void>;
  private phase: State['phase'] = 'idle';
  private total = 0;
  private steps: State['steps'][number][] = [];
  private holds: boolean | undefined;
  private problem: string | undefined;
  private asked: Asked | undefined;
  private exchanges: LabExchange[] = [];
  private controller = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private settled: (() => void) | undefined;

  constructor(parts: LabSessionParts) {
    this.parts = parts;
    this.changed = new Emitter(parts.onError);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  state(): State {
    const { asked } = this;
    return {
      page: 'replay',
      place: this.parts.places.current(),
      phase: this.phase,
      total: this.total,
      steps: [...this.steps],
      ...(asked === undefined
        ? {}
        : {
            current: {
              index: this.steps.length + 1,
              title: asked.step.title,
              question: asked.step.question,
              choices: asked.step.choices,
            },
          }),
      ...(this.problem === undefined ? {} : { problem: this.problem }),
      ...(this.holds === undefined ? {} : { holds: this.holds }),
    };
  }

  dispose(): void {
    this.controller.abort();
    this.changed.dispose();
  }

  ended(): Promise<void> {
    return this.running;
  }

  private async start(signal: AbortSignal): Promise<null> {
    await this.stop();
    this.steps = [];
    this.holds = undefined;
    this.problem = undefined;
    this.enter('starting');
    try {
      const ground = await this.parts.places.open(signal);
      if (this.parts.places.current().isSandbox) await this.parts.watch(['configmaps'], ground.namespace, signal);
      const { replaySteps } = await import('../../lab/replaySteps.ts');
      this.total = replaySteps.length;
      this.controller = new AbortController();
      const asking = this.nextSettled();
      this.running = this.run(ground, AbortSignal.any([this.controller.signal, ground.closing]));
      await asking;
    } catch (error) {
      this.enter('idle');
      throw error;
    }
    return null;
  }

  private async run(ground: LabGround, signal: AbortSignal): Promise<void> {
    const { clock, onError, translate } = this.parts;
    const { runReplay, randomSuffix } = await import('../../lab/replay.ts');
    const shown = new LabExchanges();
    try {
      const { holds } = await runReplay({
        server: ground.server,
        namespace: ground.namespace,
        clock,
        signal,
        suffix: randomSuffix(() => clock.random()),
        onExchange: (exchange) => {
          this.exchanges.push(shown.shown(exchange));
          ground.onExchange(exchange);
        },
        predict: (step) => this.ask(inWords(step, translate), signal),
        onStep: (result, step, prediction) => this.keep(result, inWords(step, translate), prediction ?? ''),
      });
      this.holds = holds;
      this.enter('done');
    } catch (error) {
      if (ground.closing.aborted || !isAppError(error, 'cancelled')) {
        this.problem = reasonOf(error, ground, translate);
        if (!isAppError(error, 'cancelled')) onError(error);
      }
      this.enter('stopped');
    } finally {
      this.asked = undefined;
      this.changed.fire();
      this.settle();
    }
  }

  private ask(step: ReplayStep, signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(cancelled());
        return;
      }
      const onAbort = (): void => reject(cancelled());
      signal.addEventListener('abort', onAbort, { once: true });
      this.asked = {
        step,
        answer: (prediction) => {
          signal.removeEventListener('abort', onAbort);
          resolve(prediction);
        },
      };
      this.exchanges = [];
      this.enter('asking');
      this.settle();
    });
  }

  private keep({ id, expected, observed, holds }: StepResult, step: ReplayStep, predicted: string): void {
    const { translate } = this.parts;
    this.steps.push({
      id,
      title: step.title,
      holds,
      lesson: step.lesson,
      predicted,
      question: step.question,
      answer: step.answer,
      right: predicted === step.answer,
      facts: Object.keys(expected).map((name) => ({
        name: translate(wordsOfFact(name)),
        expected: said(expected[name], translate),
        observed: said(observed[name], translate),
        holds: expected[name] === observed[name],
      })),
      // What comes after the step is the clean-up, and no part of it.
      exchanges: [...this.exchanges],
    });
  }

  private async step(prediction: string): Promise<null> {
    const { translate } = this.parts;
    const { asked } = this;
    if (asked === undefined) throw new AppError('usage', translate('No step waits for a prediction.'));
    if (!asked.step.choices.includes(prediction))
      throw new AppError('usage', translate('First predict: choose one of the answers.'));
    const next = this.nextSettled();
    this.asked = undefined;
    this.enter('running');
    asked.answer(prediction);
    await next;
    return null;
  }

  private async stop(): Promise<null> {
    this.controller.abort();
    await this.running;
    return null;
  }

  private enter(phase: State['phase']): void {
    this.phase = phase;
    this.changed.fire();
  }

  /** Resolves when the replay asks again or has ended. */
  private nextSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.settled = resolve;
    });
  }

  private settle(): void {
    this.settled?.();
    this.settled = undefined;
  }
}

/** A step in the reader's words. */
function inWords(step: ReplayStep, translate: Translate): ReplayStep {
  const { title, question, choices, answer, lesson } = step;
  return {
    ...step,
    title: translate(title),
    question: translate(question),
    choices: choices.map((choice) => translate(choice)),
    answer: translate(answer),
    lesson: translate(lesson),
  };
}

function said(value: Json | undefined, translate: Translate): string {
  if (value === undefined) return '–';
  if (typeof value === 'boolean') return value ? translate('yes') : translate('no');
  return typeof value === 'string' ? value : stringifyJson(value);
}
