import type { RedisAddress, RedisNode } from './redis-client.ts';

const MAX_LEARNT = 256;

/**
 * The nodes by which Redis can be reached: those of the settings, and those that the cluster has named. So a cluster that goes on
 * without the node in the settings is found again.
 */
export class RedisNodes {
  readonly #configured: readonly RedisNode[];
  #learnt: readonly RedisNode[] = [];
  #attempts = 0;

  constructor({ host, port, others = [] }: RedisAddress) {
    this.#configured = [{ host, port }, ...others];
  }

  /** Replaces what was learnt before: a node that left the cluster is forgotten. */
  learn(nodes: readonly RedisNode[]): void {
    if (nodes.length > 0) this.#learnt = nodes.slice(0, MAX_LEARNT);
  }

  /** All of them, each once. The first is another one of the settings at each attempt. */
  next(): RedisNode[] {
    const first = this.#attempts++ % this.#configured.length;
    const configured = [...this.#configured.slice(first), ...this.#configured.slice(0, first)];
    const named = [...configured, ...this.#learnt].map(
      (node) => [`${node.host} ${node.port}`, node] as const,
    );
    return [...new Map(named).values()];
  }
}
