import { createHash } from 'node:crypto';

import { meta, type Actor, type ActorContext } from './actor.ts';

/**
 * Renews a certificate the blunt way: deletes the Secret and creates it anew under its name, so that the name goes on and
 * the identity does not.
 */
export class CertificateController implements Actor {
  readonly name = 'cert-controller';
  private readonly context: ActorContext;
  private readonly namespace: string;
  private readonly secret: string;
  private readonly every: number;
  private steps = 0;
  private serial = 0;

  constructor(context: ActorContext, options: { namespace: string; secret: string; every?: number }) {
    this.context = context;
    this.namespace = options.namespace;
    this.secret = options.secret;
    this.every = options.every ?? 20;
  }

  async step(): Promise<string | undefined> {
    this.steps += 1;
    if (this.steps % this.every !== 1) return undefined;
    const path = `/api/v1/namespaces/${this.namespace}/secrets`;
    const { status, body } = await this.context.client.get(`${path}/${this.secret}`);
    if (status === 200)
      await this.context.client.remove(`${path}/${this.secret}`, { preconditions: { uid: meta(body, 'uid') } });
    this.serial += 1;
    const key = createHash('sha256').update(`${this.serial} ${this.context.random()}`).digest('base64');
    const created = await this.context.client.create(path, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: this.secret,
        namespace: this.namespace,
        annotations: { 'cert.example.com/serial': String(this.serial) },
      },
      stringData: { 'tls.crt': `certificate ${this.serial}`, 'tls.key': key },
    });
    return created.status === 201 ? `${status === 200 ? 're' : ''}created secret ${this.secret}` : undefined;
  }
}
