import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { alerts, auth, keys, organization, spendLimits } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import OpenAI from 'openai';
import { processesOf } from '../processes.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';
import type { Drill } from './drill.ts';
import { CATALOGUE, startBillingProvider } from './kills/bill.ts';
import { seeded } from './seeded.ts';

// Every process of a service, its stores included, is killed at a random moment after a request has passed the thresholds of a spend limit:
// before the alert is written, before it is claimed, during its attempt, or before it is known how that went. Each request has a window for
// itself, by its label, so it causes two alerts. A receiver that answers late, or with an error, makes the moments longer.

const CREDENTIALS = { email: 'owner@example.com', password: 'correct horse battery staple' };
const MAX_BEFORE_KILL_MS = 1_500;
const ARRIVED_WITHIN_MS = 10 * 60_000;
const PERCENTS = [80, 100];

interface Figures {
  readonly broken: readonly string[];
  readonly kills: number;
  /** The number of alerts that answered requests caused. */
  readonly alerts: number;
  readonly messages: number;
}

export const drill: Drill = async ({ cycles, seed, log }) => {
  const { broken, kills, alerts: count, messages } = await killBetween({ cycles, seed, log });
  log(`${kills} kills, ${count} alerts, ${messages} messages`);
  return broken;
};

interface Settings {
  readonly cycles: number;
  readonly seed: number;
  log(line: string): void;
}

export async function killBetween({ cycles, seed, log }: Settings): Promise<Figures> {
  const random = seeded(seed);
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-alerts-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const provider = stack.use(await startBillingProvider(random, 0));
  const receiver = stack.use(await startReceiver(random));
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(catalogue, CATALOGUE(provider.baseUrl));
  const environment = {
    DATA_DIR: join(directory, 'data'),
    GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
    CATALOGUE: catalogue,
    MOCK_KEY: 'none',
    SIGNUP_CREDIT_PKR: '1000000',
    ALERT_WEBHOOK_HOSTS: receiver.host,
  };
  let service = await startService(environment);
  stack.defer(() => killAll(service, environment.DATA_DIR));
  const { secret, webhookSecret } = await prepare(service.apiPort, receiver.url);
  receiver.verifyWith(webhookSecret);

  const answered: string[] = [];
  const startedAt = performance.now();
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const label = `run-${cycle}`;
    if (await ask(service.gatewayPort, secret, label, cycle)) answered.push(label);
    await delay(random() * MAX_BEFORE_KILL_MS);
    await killAll(service, environment.DATA_DIR);
    service = await startService(environment);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    if (cycle % 20 === 0) log(`${cycle} kills in ${seconds} s; ${receiver.messages()} messages`);
  }
  const wanted = answered.flatMap((label) => PERCENTS.map((percent) => `${label} ${percent}`));
  const missing = () => wanted.filter((cause) => !receiver.idsOf.has(cause));
  const arrived = await eventually(async () => missing().length === 0 || undefined, ARRIVED_WITHIN_MS).catch(
    () => false,
  );
  const broken = [...receiver.broken];
  if (!arrived) broken.push(`these alerts were lost: ${missing().join(', ')}`);
  for (const [cause, ids] of receiver.idsOf)
    if (ids.size > 1) broken.push(`${cause} has ${ids.size} ids: ${[...ids].join(', ')}`);
  if (answered.length < cycles / 2)
    broken.push(`only ${answered.length} of ${cycles} requests were answered`);
  return { broken, kills: cycles, alerts: wanted.length, messages: receiver.messages() };
}

/** Ends the service and all that it started, without warning. */
async function killAll({ child }: ServiceProcess, dataDirectory: string): Promise<void> {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  for (
    let left = await processesOf(dataDirectory);
    left.length > 0;
    left = await processesOf(dataDirectory)
  ) {
    for (const line of left) {
      try {
        process.kill(Number.parseInt(line, 10), 'SIGKILL');
      } catch (error) {
        // It has ended in between.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    await delay(20);
  }
  await ended;
}

/** An organisation whose requests each pass a limit of their own, and a channel. */
async function prepare(port: number, url: string) {
  const client = new ApiClient(port);
  await client.call(auth.register, { body: { ...CREDENTIALS, organization_name: 'Alerts' } });
  await client.call(auth.login, { body: CREDENTIALS });
  const project = (await client.call(organization.listProjects)).projects[0];
  const { api_key: secret } = await client.call(keys.createKey, {
    body: { project_id: project?.id, name: 'runs' },
  });
  await client.call(spendLimits.createSpendLimit, {
    body: {
      scope: { kind: 'metadata', name: 'run', value: null },
      ...{ window: 'lifetime', limit_pkr: 0.000001, mode: 'alert', alert_at: PERCENTS },
    },
  });
  const channel = await client.call(alerts.createAlertChannel, { body: { kind: 'webhook', url } });
  return { secret, webhookSecret: channel.secret ?? '' };
}

/** True if the request was answered to its end. */
async function ask(port: number, secret: string, label: string, number: number): Promise<boolean> {
  const body = { model: 'mock/model', messages: [{ role: 'user', content: `request ${number}` }] };
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'x-svc-meta-run': label,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`a request was answered with ${response.status}: ${text}`);
  return true;
}

interface Message {
  readonly data: {
    readonly threshold_percent: number;
    readonly limit: { readonly scope: { readonly value: string } };
  };
}

/** Takes most messages, some of them late, and refuses the others. */
async function startReceiver(random: () => number) {
  const idsOf = new Map<string, Set<string>>();
  const broken: string[] = [];
  let messages = 0;
  // OpenAI's own reading of Standard Webhooks: not the library that signs here.
  const { webhooks } = new OpenAI({ apiKey: 'none' });
  let secret = '';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    messages += 1;
    const chance = random();
    if (chance < 0.2) return response.writeHead(503).end();
    if (chance < 0.5) await delay(random() * 600);
    // What is noted has been taken, whether or not the sender lives to hear so.
    const text = Buffer.concat(pieces).toString();
    const { data } = (await webhooks.unwrap(text, request.headers as never, secret)) as unknown as Message;
    const cause = `${data.limit.scope.value} ${data.threshold_percent}`;
    idsOf.set(cause, (idsOf.get(cause) ?? new Set()).add(String(request.headers['webhook-id'])));
    return response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      // The sender was killed while it sent.
      if (!request.destroyed) broken.push(`a message could not be taken: ${error.message}`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}/alerts`,
    idsOf,
    broken,
    messages: () => messages,
    verifyWith(given: string) {
      secret = given;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
