import type { Agent } from 'node:https';
import { text } from 'node:stream/consumers';
import { ApiClient, type RawReply, type RawRequest } from '@gatehouse/control-plane/testing';
import { openHttps, type TlsAddress } from '../../https-client.ts';

/** An answer of the balancer itself, because a node gave none. The node may have done what was asked, or not. */
export class NotAnswered extends Error {}

/** A client of the API over the balancer, which holds every answer of a node against the contract. */
export class BalancedClient extends ApiClient {
  readonly #at: TlsAddress;
  readonly #agent: Agent;

  constructor(at: TlsAddress, agent: Agent) {
    super(at.port);
    this.#at = at;
    this.#agent = agent;
  }

  override async raw({ method, path, headers = {}, body }: RawRequest): Promise<RawReply> {
    const answer = await openHttps(this.#at, {
      method,
      path,
      headers: headers as Record<string, string>,
      agent: this.#agent,
      ...(body !== undefined && { text: body }),
    });
    const reply = { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
    if (isOfBalancer(reply))
      throw new NotAnswered(`${method} ${path}: the balancer answered ${reply.status}`);
    return reply;
  }
}

/** Every answer of a node has an id. */
export function isOfBalancer({ headers }: Pick<RawReply, 'headers'>): boolean {
  return headers['x-request-id'] === undefined;
}
