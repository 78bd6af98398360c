import { sentenceOf } from '../../base/appError.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Event } from '../../base/emitter.ts';
import type { Server } from '../../base/server.ts';
import type { Translate } from '../../core/timeline/translate.ts';
import type { Exchange, SafeWriteLog } from '../../lab/labClient.ts';
import type { Resources } from '../../lab/lessonRun.ts';
import type { Lesson } from '../../lab/lesson.ts';
import type { Handlers, RequestChecks } from '../../protocol/channel.ts';
import type { LabPage, LabPlaceState, StateOf } from '../../protocol/labStates.ts';

/** A server that a lab may use, with what is needed to show the lab on the timeline. */
export interface LabGround {
  readonly server: Server;
  readonly namespace: string;
  readonly safeWriteLog: SafeWriteLog;
  /** Aborts when the connection is given up, such as when the sandbox is stopped. */
  readonly closing: AbortSignal;
  resources(signal: AbortSignal): Promise<Resources>;
  onExchange(exchange: Exchange): void;
}

/** Where labs run: the sandbox, unless the person chose a cluster and a namespace. */
export interface LabPlaces {
  current(): LabPlaceState;
  /** Lets the person choose. @throws AppError `cancelled` */
  choose(signal: AbortSignal): Promise<void>;
  /**
   * The chosen place, ready to be used; the sandbox is started if need be, with nobody at work but who is asked for.
   * @throws AppError `forbidden` where writing is switched off, `cancelled` where the person says no to a protected context
   */
  open(signal: AbortSignal, sandbox?: Lesson['sandbox']): Promise<LabGround>;
  readonly onDidChange: Event<void>;
}

/** What the sessions of the labs' pages share. */
export interface LabSessionParts {
  readonly places: LabPlaces;
  readonly clock: Clock;
  readonly translate: Translate;
  /** Lets the rest of the editor watch what a lab is about, before it begins. */
  watch(resources: readonly string[], namespace: string, signal: AbortSignal): Promise<void>;
  /** Told of what goes wrong when nobody waits for it any more, such as a clean-up. */
  readonly onError: (error: unknown) => void;
}

/**
 * What stands behind one page: its state, and what the page may ask. A session outlives the page's being hidden; disposing
 * it ends what runs and cleans up.
 */
export interface LabSession<P extends LabPage, R extends RequestChecks> extends Disposable {
  readonly page: P;
  readonly requests: R;
  readonly handlers: Handlers<R>;
  readonly onDidChange: Event<void>;
  state(): StateOf<P>;
  /** Resolves when what was disposed is cleaned up; never rejects. */
  ended(): Promise<void>;
}

/** Why a lab ended before its end: its server went away, or what the error says. */
export function reasonOf(error: unknown, { closing }: LabGround, translate: Translate): string {
  if (closing.aborted) return translate('The server was stopped or its connection given up, and that ended it.');
  return sentenceOf(error, translate);
}
