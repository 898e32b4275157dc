import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import type { Subject } from './load.ts';
import type { Kind } from './options.ts';
import { delay, type StartedProgram, startProgram } from './started-program.ts';

// The complete service as `npm start` starts it, with embedded stores. Its key has a rate, a credit limit and an expiry, all of
// them too high to be reached: every limit is checked, and no request is rejected.

const root = join(import.meta.dirname, '../..');
const RATE_LIMIT_RPM = 1_000_000;
const CREDIT_PKR = 1_000_000;
const PASSWORD = 'correct horse battery staple';
const MODELS = { json: 'bench/json', sse: 'bench/sse' } as const;
const SHIPPED_LIMIT_MS = 60_000;

/** The rows that Gatehouse recorded of the requests of a model. */
export interface Recorded {
  readonly requests: number;
  readonly costMicroPkr: number;
}

export interface StartedGatehouse extends StartedProgram {
  readonly dataDir: string;
  readonly subject: Subject;
  /** The ledger's spend once nothing is held, and the sum of the request log. */
  recorded(): Promise<{ readonly ledgerMicroPkr: number; readonly log: Readonly<Record<Kind, Recorded>> }>;
}

export async function startGatehouse(
  into: string,
  upstreams: Readonly<Record<Kind, number>>,
  processes: number,
  /** Called before the start, with the directory of its data. */
  prepare: (dataDir: string) => Promise<void> = async () => undefined,
): Promise<StartedGatehouse> {
  const name = processes === 1 ? 'Gatehouse' : `Gatehouse, ${processes} processes`;
  const directory = join(into, `gatehouse-${processes}`);
  const dataDir = join(directory, 'data');
  await mkdir(directory);
  await prepare(dataDir);
  await writeFile(join(directory, 'catalogue.yaml'), catalogueOf(upstreams));
  const started = await startProgram({
    command: process.execPath,
    args: ['--max-old-space-size=1024', '--max-semi-space-size=64', 'cli/bin/gatehouse.mjs', 'start'],
    cwd: root,
    outputFile: join(directory, 'service.log'),
    environment: {
      PORT: '0',
      GATEWAY_PORT: '0',
      DATA_DIR: dataDir,
      CATALOGUE: join(directory, 'catalogue.yaml'),
      SIGNUP_CREDIT_PKR: String(CREDIT_PKR),
      RATE_LIMIT_CEILING_RPM: String(RATE_LIMIT_RPM),
      ...(processes === 1 ? {} : { GATEWAY_PROCESSES: String(processes) }),
    },
    isReady: (output) => readyLine(output) !== undefined,
  });
  try {
    const ready = readyLine(await readFile(started.outputFile, 'utf8'));
    const api = new ApiClient(Number(ready?.['api_port']));
    const port = Number(ready?.['gateway_port']);
    const credentials = { email: 'bench@example.com', password: PASSWORD };
    await api.call(auth.register, { body: { ...credentials, organization_name: 'Bench' } });
    await api.call(auth.login, { body: credentials });
    const { projects } = await api.call(organization.listProjects);
    const minted = await api.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'bench' },
    });
    await api.call(keys.updateKey, {
      params: { key_id: minted.id },
      body: {
        rate_limit_rpm: RATE_LIMIT_RPM,
        credit_limit_pkr: CREDIT_PKR / 2,
        expires_at: Math.floor(Date.now() / 1000) + 86_400,
      },
    });
    return {
      ...started,
      dataDir,
      subject: {
        name,
        ports: { json: port, sse: port },
        models: MODELS,
        headers: { authorization: `Bearer ${minted.api_key}` },
        pid: started.pid,
      },
      recorded: () => recorded(api, port, minted.id, minted.api_key),
    };
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
}

const catalogueOf = ({ json, sse }: Readonly<Record<Kind, number>>) => `providers:
  json: { protocol: openai, base_url: "http://127.0.0.1:${json}/v1" }
  sse: { protocol: openai, base_url: "http://127.0.0.1:${sse}/v1" }
routes:
  - { id: ${MODELS.json}, provider: json, upstream_model: m, price_pkr_per_million: { input: 1, output: 1 }, max_output_tokens: 100 }
  - { id: ${MODELS.sse}, provider: sse, upstream_model: m, price_pkr_per_million: { input: 1, output: 1 }, max_output_tokens: 100000, timeout_ms: 3600000 }
`;

function readyLine(output: string): Record<string, unknown> | undefined {
  const line = output.split('\n').find((one) => one.includes('"msg":"ready"') && one.endsWith('}'));
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
}

async function recorded(api: ApiClient, port: number, keyId: string, secret: string) {
  const keyStanding = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/key`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    if (answer.status !== 200) throw new Error(`GET /v1/key answered ${answer.status}`);
    return (await answer.json()) as { spent_pkr: number; held_pkr: number };
  };
  const logged = async (kind: Kind): Promise<Recorded> => {
    const { total_requests, total_cost_pkr = 0 } = await api.call(analytics.getSummary, {
      query: { time_range: '24h', key_id: keyId, model_alias: MODELS[kind] },
    });
    return { requests: total_requests, costMicroPkr: microPkr(total_cost_pkr) };
  };
  const end = performance.now() + SHIPPED_LIMIT_MS;
  for (;;) {
    const { spent_pkr, held_pkr } = await keyStanding();
    const log = { json: await logged('json'), sse: await logged('sse') };
    const ledgerMicroPkr = microPkr(spent_pkr);
    const isShipped = held_pkr === 0 && ledgerMicroPkr === log.json.costMicroPkr + log.sse.costMicroPkr;
    if (isShipped || performance.now() > end) return { ledgerMicroPkr, log };
    await delay(500);
  }
}

const microPkr = (pkr: number) => Math.round(pkr * 1_000_000);
