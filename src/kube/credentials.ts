import { message } from '../base/message.ts';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { createSecureContext } from 'node:tls';

import { AppError, wordsOf } from '../base/appError.ts';
import { untilAborted, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { JsonObject } from '../codec/json.ts';
import { authorizationInAddress, authorizationOf, impersonationHeaders, userFor } from './authorization.ts';
import { ClientNodeConfig } from './clientNode.ts';
import { runExecPlugin, type ExecCredential } from './execCredential.ts';
import type { ClusterEntry, ExecEntry, Impersonation, ResolvedContext, UserEntry } from './kubeconfig.ts';

/** What one request goes over: the kept-alive agent of this cluster and user, and headers that authenticate. */
export interface Connection {
  readonly agent: HttpAgent;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Whether asking again can give other credentials, so that a 401 is worth one more try. */
  readonly renewable: boolean;
}

/** Where credentials come from. */
export interface CredentialsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly impersonate?: Impersonation;
}

const TOKEN_FILE_AGE_MS = 60_000;
const EXPIRY_SLACK_MS = 10_000;
/** A free connection is given up before the server does it (90 s in kube-apiserver), so that none dies under a request. */
const FREE_SOCKET_MS = 50_000;
const TCP_KEEP_ALIVE_MS = 30_000;
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

interface PluginRun {
  readonly credential: Promise<ExecCredential>;
  settled?: ExecCredential;
  /** How many requests wait for it. */
  waiting: number;
  stop(): void;
}

/** The credentials of one cluster and user, kept, renewed and never shown. */
export class Credentials implements Disposable {
  private readonly cluster: ClusterEntry;
  private readonly user: UserEntry | undefined;
  private readonly options: CredentialsOptions;
  private readonly clientNode: ClientNodeConfig | undefined;
  private readonly tls: Promise<TlsMaterial>;
  private agent: HttpAgent | undefined;
  private agentCert: string | undefined;
  private retired: HttpAgent[] = [];
  private plugin: PluginRun | undefined;
  private tokenFile: { token: string; readAt: number } | undefined;

  constructor(resolved: ResolvedContext, options: CredentialsOptions) {
    this.cluster = resolved.cluster;
    this.user = userFor(resolved.cluster.server, resolved.user);
    this.options = options;
    const viaClientNode =
      this.cluster.proxyUrl !== undefined || (this.user?.authProvider !== undefined && this.user.exec === undefined);
    this.clientNode = viaClientNode ? new ClientNodeConfig(this.cluster, this.user) : undefined;
    this.tls = readTls(this.cluster, this.user);
    this.tls.catch(() => undefined);
  }

  /**
   * What the next request goes over.
   * @throws AppError `credentials-failed`, `kubeconfig-malformed`, `cancelled`
   */
  async connection(signal: AbortSignal): Promise<Connection> {
    const tls = await this.tls;
    const exec = this.user?.exec;
    const plugin = exec === undefined ? undefined : await this.pluginCredential(exec, tls.ca, signal);
    const node =
      this.clientNode === undefined ? undefined : await untilAborted(this.clientNodeAuth(this.clientNode), signal);
    const agent = this.agentFor(tls, plugin, node?.agent);
    const authorization = await this.authorization(plugin, node?.headers['authorization']);
    return {
      agent,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...impersonationHeaders(this.options.impersonate ?? this.user?.impersonate),
      },
      renewable: this.user?.exec !== undefined || this.user?.tokenFile !== undefined,
    };
  }

  /** Forgets what was refused, so that the next request asks for new credentials. */
  forget(): void {
    if (this.plugin?.settled !== undefined) this.plugin = undefined;
    this.tokenFile = undefined;
  }

  /** PEM of the certificates that the server's is checked against; undefined: the machine's own. */
  async caPem(): Promise<string | undefined> {
    return (await this.tls).ca;
  }

  dispose(): void {
    if (this.plugin !== undefined) this.endPlugin(this.plugin);
    for (const agent of [...this.retired, this.agent]) agent?.destroy();
    this.retired = [];
    this.agent = undefined;
  }

  /** One run of the plugin at a time serves all who wait; when nobody waits any more it is ended. */
  private async pluginCredential(
    exec: ExecEntry,
    ca: string | undefined,
    signal: AbortSignal,
  ): Promise<ExecCredential> {
    const expiresAt = this.plugin?.settled?.expiresAt;
    if (expiresAt !== undefined && expiresAt - EXPIRY_SLACK_MS <= this.options.clock.now()) this.plugin = undefined;
    const running = (this.plugin ??= this.runPlugin(exec, ca));
    running.waiting += 1;
    try {
      return await untilAborted(running.credential, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0 && running.settled === undefined) this.endPlugin(running);
    }
  }

  private runPlugin(exec: ExecEntry, ca: string | undefined): PluginRun {
    const { env, clock } = this.options;
    const stopped = new AbortController();
    const credential = runExecPlugin(exec, { env, clock, cluster: this.clusterInfo(ca) }, stopped.signal);
    const running: PluginRun = { credential, waiting: 0, stop: () => stopped.abort() };
    const settle = async (): Promise<void> => {
      try {
        running.settled = await running.credential;
      } catch {
        // Whoever waits for the credential is told; the next request runs the plugin again.
        if (this.plugin === running) this.plugin = undefined;
      }
    };
    void settle();
    return running;
  }

  private endPlugin(running: PluginRun): void {
    running.stop();
    if (this.plugin === running) this.plugin = undefined;
  }

  private clusterInfo(ca: string | undefined): JsonObject {
    const { server, tlsServerName, insecure, proxyUrl } = this.cluster;
    return {
      server,
      ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
      ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
      ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
      config: null,
    };
  }

  private async clientNodeAuth(config: ClientNodeConfig): Promise<Awaited<ReturnType<ClientNodeConfig['auth']>>> {
    try {
      return await config.auth();
    } catch (error) {
      throw new AppError(
        'credentials-failed',
        message`User "${this.user?.name ?? ''}" of the kubeconfig could not be authenticated: ${wordsOf(error)}`,
        {
          advice: message`Log in again with the tool that made this kubeconfig entry.`,
          cause: error,
        },
      );
    }
  }

  private async authorization(
    plugin: ExecCredential | undefined,
    fromClientNode: string | undefined,
  ): Promise<string | undefined> {
    const file = this.user?.tokenFile;
    const fileToken = file === undefined ? undefined : await this.tokenFromFile(file);
    return (
      authorizationOf(this.user, { fileToken, plugin }) ?? fromClientNode ?? authorizationInAddress(this.cluster.server)
    );
  }

  /** As client-go: while a file is being replaced, and holds nothing, the token that was read before goes on. */
  private async tokenFromFile(file: string): Promise<string> {
    const now = this.options.clock.now();
    const before = this.tokenFile;
    if (before !== undefined && now - before.readAt <= TOKEN_FILE_AGE_MS) return before.token;
    try {
      const token = (await readNamed(file, 'token file')).trim();
      if (token === '') throw emptyTokenFile(file);
      this.tokenFile = { token, readAt: now };
      return token;
    } catch (error) {
      if (before === undefined) throw error;
      return before.token;
    }
  }

  private agentFor(tls: TlsMaterial, plugin: ExecCredential | undefined, proxied: HttpAgent | undefined): HttpAgent {
    const cert = plugin?.cert ?? tls.cert;
    if (this.agent !== undefined && this.agentCert === cert) return this.agent;
    // What still runs over the old certificate goes on; its free connections end by themselves.
    if (this.agent !== undefined) this.retired.push(this.agent);
    this.agentCert = cert;
    const options: AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: TCP_KEEP_ALIVE_MS,
      timeout: FREE_SOCKET_MS,
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(cert === undefined ? {} : { cert, key: plugin?.key ?? tls.key }),
      ...(this.cluster.tlsServerName === undefined ? {} : { servername: this.cluster.tlsServerName }),
      ...(this.cluster.insecure ? { rejectUnauthorized: false } : {}),
    };
    if (proxied !== undefined && this.cluster.proxyUrl !== undefined) {
      this.agent = keptAlive(proxied, options);
    } else {
      const proxyEnv = this.environmentProxies();
      const all = proxyEnv === undefined ? options : { ...options, proxyEnv };
      this.agent = this.cluster.server.startsWith('http:') ? new HttpAgent(all) : new HttpsAgent(all);
      // All its connections go to one server with the same options, so that their usual name, which holds the certificates and
      // is looked up twice for each request, need not tell them apart.
      this.agent.getName = () => 'server';
    }
    return this.agent;
  }

  /** The proxies that the environment names, as kubectl heeds them: never for loopback addresses. */
  private environmentProxies(): Record<string, string> | undefined {
    if (LOOPBACK.test(new URL(this.cluster.server).hostname)) return undefined;
    const found = PROXY_VARIABLES.flatMap((name) => {
      const value = this.options.env[name];
      return value === undefined || value === '' ? [] : [[name, value] as const];
    });
    return found.length === 0 ? undefined : Object.fromEntries(found);
  }
}

/** client-node makes proxy agents that close after each request; what they are made of is the same as ours. */
function keptAlive(agent: HttpAgent, options: AgentOptions): HttpAgent {
  const inner: unknown = Reflect.get(agent, 'options');
  if (typeof inner === 'object' && inner !== null) Object.assign(inner, options);
  return Object.assign(agent, { keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS });
}

interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

async function readTls(cluster: ClusterEntry, user: UserEntry | undefined): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    pem(cluster.caFile, cluster.caData, 'certificate-authority'),
    pem(user?.certFile, user?.certData, 'client-certificate'),
    pem(user?.keyFile, user?.keyData, 'client-key'),
  ]);
  const material: TlsMaterial = {
    ...(ca === undefined || cluster.insecure ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  };
  try {
    // A broken CA is passed over in silence by the secure context, a broken certificate or key is not.
    if (material.ca !== undefined) void new X509Certificate(material.ca);
    createSecureContext(material);
  } catch (error) {
    throw new AppError(
      'kubeconfig-malformed',
      message`A certificate or key of the kubeconfig's cluster "${cluster.name}" (${cluster.at}) or its user is not valid PEM.`,
      {
        advice: message`Check certificate-authority, client-certificate and client-key.`,
        cause: error,
      },
    );
  }
  return material;
}

/** As kubectl: data wins over a file. */
async function pem(file: string | undefined, data: string | undefined, what: string): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  return file === undefined ? undefined : readNamed(file, what);
}

async function readNamed(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError(
      'credentials-failed',
      message`The ${what} ${file}, which the kubeconfig names, cannot be read.`,
      {
        advice: message`Check that the file exists and that you may read it.`,
        details: { path: file },
        cause: error,
      },
    );
  }
}

function emptyTokenFile(file: string): AppError {
  return new AppError('credentials-failed', message`The token file ${file}, which the kubeconfig names, is empty.`, {
    advice: message`Wait until whatever writes it has done so, or log in again.`,
    details: { path: file },
  });
}
