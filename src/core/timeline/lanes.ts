import { nameKey, type History, type Incarnation } from '../history.ts';
import type { ObjectName } from '../traceEvent.ts';
import type { StringTable } from './columns.ts';
import type { BarInfo, GroupInfo, LaneInfo, PackedLanes } from './model.ts';
import { packLanes } from './packedLanes.ts';
import { RecentMarks } from './runs.ts';

/** A refused write that waits for the version that won to be seen. */
export interface AwaitedWinner {
  readonly event: number;
  readonly at: number;
  readonly uid: string;
  readonly token: string;
}

/** What the projection keeps for one lane while it goes on. */
export interface LaneState {
  readonly index: number;
  readonly key: string;
  readonly cluster: string;
  readonly name: ObjectName;
  group: number;
  kind: string;
  bars: readonly BarInfo[];
  /** Tells cheaply whether the bars may have changed. */
  signature: string;
  uid: string;
  lagFrom: number | undefined;
  watched: boolean;
  awaited: AwaitedWinner[];
  /** The marks of its last ends, by the UID that ended. */
  readonly ends: { readonly uid: string; readonly mark: number }[];
  readonly recent: RecentMarks;
  remark: string | undefined;
  findings: number;
}

/** The lanes and their groups, by place; places never change. */
export class LaneTable {
  readonly lanes: LaneState[] = [];
  readonly groups: GroupInfo[] = [];
  readonly dirty = new Set<number>();
  private readonly byKey = new Map<string, LaneState>();
  private readonly groupPlaces = new Map<string, number>();
  private readonly clusterLabel: (cluster: string) => string;

  constructor(clusterLabel: (cluster: string) => string) {
    this.clusterLabel = clusterLabel;
  }

  /** The lane of a name, made where there is none. */
  lane(cluster: string, name: ObjectName, apiVersion: string | undefined, kind: string | undefined): LaneState {
    const key = nameKey(cluster, name);
    const known = this.byKey.get(key);
    if (known !== undefined) {
      if (known.kind === '' && kind !== undefined) {
        known.kind = kind;
        this.dirty.add(known.index);
      }
      return known;
    }
    const lane: LaneState = {
      index: this.lanes.length,
      key,
      cluster,
      name,
      group: this.groupPlace(cluster, name, apiVersion, kind),
      kind: kind ?? '',
      bars: [],
      signature: '',
      uid: '',
      lagFrom: undefined,
      watched: false,
      awaited: [],
      ends: [],
      recent: new RecentMarks(),
      remark: undefined,
      findings: 0,
    };
    this.lanes.push(lane);
    this.byKey.set(key, lane);
    this.dirty.add(lane.index);
    return lane;
  }

  /** The lane of a name, if there is one. */
  find(cluster: string, name: ObjectName): LaneState | undefined {
    return this.byKey.get(nameKey(cluster, name));
  }

  /** Lanes of a name in any cluster. */
  findAnywhere(name: ObjectName): LaneState | undefined {
    const suffix = nameKey('', name);
    return this.lanes.find((lane) => lane.key.endsWith(suffix));
  }

  /** Takes the bars of a lane from the history anew, if they may have changed; `always` where an earlier one may have. */
  refreshBars(lane: LaneState, history: History, always = false): void {
    const incarnations = history.names.get(lane.key)?.incarnations ?? [];
    const last = incarnations.at(-1);
    const signature = `${incarnations.length} ${last?.uid} ${last?.terminatingAt} ${last?.end?.at} ${last?.end?.how}`;
    if (signature === lane.signature && !always) return;
    lane.signature = signature;
    lane.uid = last?.uid ?? '';
    lane.bars = incarnations.map((incarnation) => barOf(incarnation));
    this.dirty.add(lane.index);
  }

  private info(lane: LaneState): LaneInfo {
    return {
      group: lane.group,
      kind: lane.kind,
      namespace: lane.name.namespace,
      name: lane.name.name,
      bars: lane.bars,
      incarnations: lane.bars.length,
      findings: lane.findings,
      watched: lane.watched,
      lagFrom: lane.lagFrom,
      remark: lane.remark,
    };
  }

  /** What the view gets of some of them, or of all. */
  packed(strings: StringTable, lanes: readonly LaneState[] = this.lanes): PackedLanes {
    return packLanes(
      lanes.map((lane) => [lane.index, this.info(lane)] as const),
      strings,
    );
  }

  /** Those that came or changed since, in order. */
  get changed(): LaneState[] {
    return Array.from(this.dirty)
      .sort((a, b) => a - b)
      .flatMap((index) => this.lanes[index] ?? []);
  }

  private groupPlace(
    cluster: string,
    name: ObjectName,
    apiVersion: string | undefined,
    kind: string | undefined,
  ): number {
    const key = [cluster, name.group, name.resource].join('\0');
    const known = this.groupPlaces.get(key);
    if (known !== undefined) return known;
    const clusterLabel = this.clusterLabel(cluster);
    const foreign = name.group.includes('.') && !name.group.endsWith('.k8s.io');
    const suffix = foreign ? ` (${apiVersion ?? name.group})` : '';
    const place = this.groups.length;
    this.groups.push({
      key,
      cluster,
      clusterLabel,
      apiGroup: name.group,
      resource: name.resource,
      kind: kind ?? name.resource,
      label: `${clusterLabel} / ${name.resource}${suffix}`,
    });
    this.groupPlaces.set(key, place);
    return place;
  }
}

function barOf(incarnation: Incarnation): BarInfo {
  const { end } = incarnation;
  return {
    uid: incarnation.uid,
    from: incarnation.firstAt,
    began: incarnation.began,
    ...(incarnation.terminatingAt === undefined ? {} : { terminatingAt: incarnation.terminatingAt }),
    ...(end === undefined ? {} : { to: end.at, endHow: end.how }),
  };
}
