import type { MarkKind } from './model.ts';

/** The equality badge of a token: two badges of one object are the same or not the same, nothing else. */
export interface BadgeInfo {
  /** Such as `ka·7f`. */
  readonly code: string;
  /** A place in the small palette. */
  readonly colour: number;
  /** The raw token, shown on request only. */
  readonly token: string;
}

/** How two things compare. */
export type Tone = 'plain' | 'same' | 'different' | 'muted' | 'good' | 'bad';

/** One line of facts: a label, a value or badge, and a remark such as "not the same". */
export interface DetailFact {
  readonly label: string;
  readonly value?: string | undefined;
  readonly badge?: BadgeInfo | undefined;
  readonly remark?: string | undefined;
  /** Whether the value is who did it. */
  readonly isActor?: boolean;
  readonly tone?: Tone | undefined;
}

/** One entry of a section: who, how, and the fields. */
export interface DetailEntry {
  readonly actor?: string | undefined;
  readonly how?: string | undefined;
  readonly lines: readonly string[];
  readonly tone?: Tone | undefined;
}

/** A headed part of the details. */
export interface DetailSection {
  readonly title: string;
  readonly entries: readonly DetailEntry[];
}

/** The object that something is about, named by UID as well as by name. */
export interface ObjectRef {
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Two versions to be compared, each by the UID and token it was seen under. */
export interface DiffRequest {
  readonly object: ObjectRef;
  readonly before: { readonly uid: string; readonly token: string };
  readonly after: { readonly uid: string; readonly token: string };
}

/** What is said of a finding: its words, what to do, and the other events that prove it. */
export interface FindingDetails {
  /** Its rule, for its page. */
  readonly id: string;
  readonly sections: readonly DetailSection[];
  readonly evidence: EventDetails['related'];
}

/** All that the details panel says about one event. */
export interface EventDetails {
  readonly event: number;
  readonly kind: MarkKind;
  readonly title: string;
  readonly at: number;
  readonly kindName: string;
  /** Who did it, where that is known. */
  readonly actor?: string | undefined;
  readonly clusterLabel: string;
  readonly object: ObjectRef;
  readonly facts: readonly DetailFact[];
  readonly sections: readonly DetailSection[];
  /** Other events that this one points to: the read, the winner. */
  readonly related: readonly { readonly label: string; readonly event: number }[];
  /** What "Open diff" compares; absent where there are no two versions. */
  readonly diff?: DiffRequest | undefined;
  /** Whether this is the living incarnation, so that it may be edited. */
  readonly canEdit: boolean;
  /** The finding that a person came from: said before the event itself. */
  readonly finding?: FindingDetails | undefined;
  /** What "Copy" copies. */
  readonly text: string;
}
