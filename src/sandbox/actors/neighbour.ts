import type { JsonObject } from '../../codec/json.ts';
import { dig, meta, type Actor, type ActorContext } from './actor.ts';

/**
 * A chatty neighbour: keeps annotating an object by read-modify-write, and often takes so long over it that somebody else
 * was faster. Then it does what is right: reads again and makes its change anew.
 */
export class Neighbour implements Actor {
  readonly name: string;
  private readonly context: ActorContext;
  private readonly path: string;
  private held: JsonObject | undefined;
  private count = 0;

  constructor(context: ActorContext, options: { name: string; path: string }) {
    this.context = context;
    this.name = options.name;
    this.path = options.path;
  }

  async step(): Promise<string | undefined> {
    if (this.held === undefined) {
      const { status, body } = await this.context.client.get(this.path);
      if (status === 200) this.held = body;
      return undefined;
    }
    if (this.context.random() < 0.25) return undefined;
    const held = this.held;
    this.held = undefined;
    const { status } = await this.write(held);
    if (status === 200) return `annotated ${meta(held, 'name')}`;
    if (status !== 409) return undefined;
    const { status: read, body } = await this.context.client.get(this.path);
    if (read !== 200) return undefined;
    const again = await this.write(body);
    return again.status === 200
      ? `was too late for ${meta(held, 'name')}, read it again and annotated it`
      : `was too late for ${meta(held, 'name')} twice`;
  }

  private write(object: JsonObject): ReturnType<ActorContext['client']['replace']> {
    this.count += 1;
    const metadata = object['metadata'] as JsonObject;
    const annotations = {
      ...((dig(object, 'metadata', 'annotations') ?? {}) as JsonObject),
      [`${this.name}.example.com/visits`]: String(this.count),
    };
    return this.context.client.replace(this.path, { ...object, metadata: { ...metadata, annotations } });
  }
}
