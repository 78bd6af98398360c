import { tokenBadges, type TokenBadge } from '../../tokenBadge.ts';
import type { MarkKind } from '../../timeline/model.ts';
import type { Token } from '../../traceEvent.ts';

/** An event as the report shows it: writes stand on the timeline, reads are told where they are proof. */
export interface Mark {
  readonly seq: number;
  readonly at: number;
  readonly object: string;
  /** The incarnation; '' where it is not known. */
  readonly uid: string;
  readonly actor: string;
  readonly kind: 'accepted' | 'refused' | 'read';
  /** What a write is drawn as. */
  readonly drawn?: MarkKind;
  /** The version that a write was based on, and the one that it made, or that a read gave. */
  readonly basedOn?: Token;
  readonly token?: Token;
  /** Of a version that was only seen, the field manager that made it, where that is known. */
  readonly writer?: string;
  /** What was asked and answered, in short; tokens stand apart, as they are shown by equality only. */
  readonly text: readonly (string | { readonly token: Token })[];
}

/** The equality badges of the tokens in a report: within one object, two look the same exactly if they are equal. */
export class Badges {
  private readonly byUid = new Map<string, ReadonlyMap<Token, TokenBadge>>();
  private readonly uids = new Map<string, string>();

  constructor(marks: readonly Mark[]) {
    const tokens = new Map<string, Set<Token>>();
    for (const mark of marks)
      for (const part of mark.text) {
        if (typeof part === 'string' || mark.uid === '') continue;
        const known = tokens.get(mark.uid) ?? new Set<Token>();
        tokens.set(mark.uid, known.add(part.token));
        this.uids.set(`${mark.object}\0${part.token}`, mark.uid);
      }
    for (const [uid, known] of tokens) this.byUid.set(uid, tokenBadges(uid, known));
  }

  /** The badge of a token of one incarnation; undefined where no mark names it. */
  ofUid(uid: string, token: Token): TokenBadge | undefined {
    return this.byUid.get(uid)?.get(token);
  }

  /** The badge of a token that a mark names; undefined where it is not known of which incarnation it is. */
  of(mark: Mark, token: Token): TokenBadge | undefined {
    const uid = this.byUid.get(mark.uid)?.has(token) === true ? mark.uid : this.uids.get(`${mark.object}\0${token}`);
    return uid === undefined ? undefined : this.byUid.get(uid)?.get(token);
  }
}
