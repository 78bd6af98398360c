import type { Words } from '../../base/message.ts';
import type { JsonObject } from '../../codec/json.ts';
import type { Change } from '../../core/diff.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import type { Strategy } from '../outcome.ts';
import type { FieldResolution } from '../options.ts';
import type { Target } from '../target.ts';

/** All that a request is made of. Content, UID and token come from one read: `current`. */
export interface Draft {
  readonly target: Target;
  /** The endpoint that is written to; undefined for the object itself. */
  readonly subresource: string | undefined;
  readonly current: JsonObject;
  readonly desired: JsonObject;
  /** From `current` to `desired`; never empty. */
  readonly changes: readonly Change[];
  readonly schema: ListSchema;
  readonly manager: string;
  /** The condition. Undefined only after an explicit yes to losing updates. */
  readonly token: string | undefined;
  readonly uid: string;
  readonly resolve: FieldResolution | undefined;
  /** Whether the object's status has an endpoint of its own. */
  readonly hasStatusEndpoint: boolean;
}

/** What a strategy makes of a draft. */
export type Drafted =
  | {
      readonly kind: 'request';
      readonly method: 'PUT' | 'PATCH';
      readonly contentType: string;
      readonly body: string;
      readonly force?: boolean;
      readonly tests?: boolean;
    }
  /** The strategy cannot say this; another one can. */
  | { readonly kind: 'use'; readonly strategy: Strategy; readonly why: Words }
  /** Nothing may be sent. */
  | { readonly kind: 'refused'; readonly why: Words; readonly accepted?: readonly string[] };
