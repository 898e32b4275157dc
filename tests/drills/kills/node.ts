import { type ServiceProcess, startService } from '../../service-process.ts';

export type Role = 'api' | 'gateway';

/** An API or a gateway, a process of its own, that is killed and started again on the same port. */
export class Node implements AsyncDisposable {
  readonly role: Role;
  readonly port: number;
  /** When it was killed, in ms of `performance.now()`. */
  readonly killedAtMs: number[] = [];
  /** How long each start took until it was ready. */
  readonly startMs: number[] = [];
  /** How often each event was logged as an error, with the reason. */
  readonly errors = new Map<string, number>();
  #environment: Readonly<Record<string, string>>;
  #service: ServiceProcess;
  #isUp = true;

  private constructor(role: Role, environment: Readonly<Record<string, string>>, service: ServiceProcess) {
    this.role = role;
    this.#service = service;
    this.port = role === 'api' ? service.apiPort : service.gatewayPort;
    this.#environment = { ...environment, [role === 'api' ? 'PORT' : 'GATEWAY_PORT']: String(this.port) };
  }

  static async start(role: Role, environment: Readonly<Record<string, string>>): Promise<Node> {
    return new Node(role, environment, await startService(environment, ['--role', role]));
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get pid(): number {
    return this.#service.child.pid ?? 0;
  }

  /** Without warning. */
  async kill(): Promise<void> {
    this.#isUp = false;
    this.killedAtMs.push(performance.now());
    const ended = await this.#service.end('SIGKILL');
    if (ended !== 'SIGKILL')
      throw new Error(`the ${this.role} ended by itself with ${ended}: ${this.#service.told()}`);
    this.#countErrors();
  }

  /** With other settings where they are given, for good. */
  async restart(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const startedAt = performance.now();
    this.#environment = { ...this.#environment, ...more };
    this.#service = await startService(this.#environment, ['--role', this.role]);
    this.startMs.push(performance.now() - startedAt);
    this.#isUp = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.end('SIGTERM');
    this.#countErrors();
  }

  /** Counts what was logged as an error so far. */
  #countErrors(): void {
    for (const { level, event, msg, err } of this.#service.logLines.splice(0)) {
      const isError = level === 'error' || level === 'fatal' || Number(level) >= 50;
      if (!isError) continue;
      // The reason tells an outage that the drill made from a defect.
      const { message, stack } = (err ?? {}) as { message?: string; stack?: string };
      const reason = message || (stack ?? JSON.stringify(err) ?? '');
      const what = `${event ?? msg}${reason && `: ${reason.slice(0, 600)}`}`;
      this.errors.set(what, (this.errors.get(what) ?? 0) + 1);
    }
  }
}
