import { Resolver } from 'node:dns/promises';
import { type ClientRequest, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Secret } from '@gatehouse/contract';
import { direct, type ProxyOf, proxyAgent } from '@gatehouse/http/outgoing';
import { Webhook } from 'standardwebhooks';
import { DeliveryError } from './delivery-error.ts';
import { isListed, isPublicAddress, webhookIssue } from './webhook-address.ts';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 4_096;

export interface WebhookMessage {
  /** The same in each attempt. */
  readonly id: string;
  readonly body: string;
  readonly secret: Secret;
}

export interface WebhookOptions {
  readonly listedHosts: ReadonlySet<string>;
  /** The addresses of a name. */
  readonly addressesOf?: (name: string) => Promise<string[]>;
  /** The proxies to receivers; none unless given. */
  readonly proxyOf?: ProxyOf;
  readonly signal: AbortSignal;
}

/** Posts a signed message, and resolves when an answer with 2xx has begun. @throws DeliveryError for everything else */
export async function sendWebhook(
  address: string,
  { id, body, secret }: WebhookMessage,
  { listedHosts, addressesOf = resolve, proxyOf = direct, signal }: WebhookOptions,
): Promise<void> {
  const issue = webhookIssue(address, listedHosts);
  // What the operator has listed may have changed since the channel was made.
  if (issue !== undefined) throw new DeliveryError(issue);
  const url = new URL(address);
  const at = new Date();
  const withinTime = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  // A connection is not kept: another message would go to an address that was checked for this one.
  const throughProxy = proxyAgent(url, proxyOf);
  const isChecked = !isListed(url, listedHosts);
  const status = await post(
    (url.protocol === 'http:' ? requestByHttp : requestByHttps)(url, {
      method: 'POST',
      agent: throughProxy ?? false,
      // A proxy is asked for the address that was checked: by its name it could be led to another.
      ...(throughProxy && isChecked ? await checkedTarget(url, addressesOf) : {}),
      headers: {
        host: url.host,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Gatehouse',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret.reveal()).sign(id, at, body),
      },
      signal: withinTime,
      ...(isChecked && !throughProxy ? { lookup: publicLookup(addressesOf) } : {}),
    }),
    body,
  );
  if (status >= 200 && status < 300) return;
  const isRedirect = status >= 300 && status < 400;
  throw new DeliveryError(
    `the receiver answered ${status}${isRedirect ? '; redirects are not followed' : ''}`,
  );
}

/** The status of the answer, of which only the first bytes are read. */
function post(request: ClientRequest, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request.on('response', (answer) => {
    resolve(answer.statusCode ?? 0);
    let bytes = 0;
    answer.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > MAX_ANSWER_BYTES) request.destroy();
    });
    answer.on('error', () => request.destroy());
  });
  request.on('error', (error: Error & { code?: string }) => reject(new DeliveryError(inWords(error))));
  request.end(body);
  return promise;
}

function inWords(error: Error & { code?: string }): string {
  if (error instanceof DeliveryError) return error.message;
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `the receiver did not answer within ${TIMEOUT_MS / 1000} s`;
  if (error.code?.startsWith('ERR_PROXY')) return `the proxy does not lead to the receiver (${error.code})`;
  return `the receiver cannot be reached (${error.code ?? error.name})`;
}

/** The addresses of a name, by DNS alone: what stands in the files of this machine is not for tenants. @throws DeliveryError */
async function publicAddresses(
  name: string,
  addressesOf: (name: string) => Promise<string[]>,
): Promise<readonly [string, ...string[]]> {
  const [first, ...others] = await addressesOf(name);
  if (first === undefined) throw new DeliveryError(`the name ${name} has no address`);
  if (![first, ...others].every(isPublicAddress))
    throw new DeliveryError(`the name ${name} leads to an address that is not public`);
  return [first, ...others];
}

function publicLookup(addressesOf: (name: string) => Promise<string[]>): LookupFunction {
  return (name, { all }, answer) => {
    publicAddresses(name, addressesOf).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (all) answer(null, found);
        else answer(null, first?.address ?? '', first?.family);
      },
      (error) => answer(error, []),
    );
  };
}

/** The host of a request, by its address, and the name that its certificate must have. */
async function checkedTarget({ hostname }: URL, addressesOf: (name: string) => Promise<string[]>) {
  // Such an address was judged by its text.
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return {};
  const [address] = await publicAddresses(hostname, addressesOf);
  return { hostname: address, servername: hostname };
}

// Not `dns.lookup`: a name server that hangs would hold the few threads that hash passwords and read files.
async function resolve(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}
