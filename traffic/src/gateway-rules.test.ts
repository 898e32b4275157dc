import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readAttempts } from '@gatehouse/store';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { makeBenchProfile } from './bench-profile.ts';
import { fillRequestLog } from './fill-request-log.ts';
import type { TrafficModel, TrafficProfile } from './traffic-profile.ts';

// Every generated row is checked against the rules by which the gateway fills in a row, stated here independently.

interface Row {
  readonly timestamp: string;
  readonly request_id: string;
  readonly model: string;
  readonly status: number;
  readonly stream: boolean;
  readonly total_ms: number;
  readonly ttft_ms: number | null;
  readonly tpot_ms: number | null;
  readonly pre_dispatch_ms: number;
  readonly prompt_tokens: string | null;
  readonly tokens_generated: string;
  readonly cache_creation_input_tokens: string | null;
  readonly cache_read_input_tokens: string | null;
  readonly total_tokens: string;
  readonly tokens_estimated: boolean;
  readonly cost_micro_pkr: string;
  readonly is_byok: number;
  readonly termination_reason: string;
  readonly refusal: string;
  readonly upstream_error: string | null;
  readonly upstream_model: string | null;
  readonly user_agent: string;
  readonly attempts: string;
}

const REFUSALS: Record<
  string,
  { status: number; isRouted: boolean; mayBeByok: boolean; termination: string }
> = {
  key_expired: { status: 401, isRouted: false, mayBeByok: false, termination: 'success' },
  model_not_allowed: { status: 403, isRouted: false, mayBeByok: false, termination: 'success' },
  model_not_found: { status: 404, isRouted: false, mayBeByok: false, termination: 'success' },
  invalid_request: { status: 400, isRouted: false, mayBeByok: false, termination: 'success' },
  rate_limit_exceeded: { status: 429, isRouted: true, mayBeByok: false, termination: 'success' },
  key_credit_exhausted: { status: 402, isRouted: true, mayBeByok: true, termination: 'success' },
  budget_exhausted: { status: 402, isRouted: true, mayBeByok: false, termination: 'success' },
  upstream_error: { status: 502, isRouted: true, mayBeByok: true, termination: 'upstream_stream_aborted' },
  upstream_timeout: { status: 504, isRouted: true, mayBeByok: true, termination: 'proxy_guillotine' },
};
const OWN = Object.keys(REFUSALS).filter((refusal) => !refusal.startsWith('upstream_'));

const END_MICROS = BigInt(Date.parse('2026-11-20T10:30:00Z')) * 1000n;

function makeProfile(): TrafficProfile {
  const { organizations, models } = makeBenchProfile({ organizations: 10, seed: 3 });
  return {
    models,
    organizations: organizations.map((organization) => ({
      ...organization,
      keys: organization.keys.map((key, index) => {
        if (index === 2) return { ...key, models: models.slice(0, 2).map(({ id }) => id) };
        return index === 3 ? { ...key, expiresAtMicros: END_MICROS - 864_000_000_000n } : key;
      }),
    })),
  };
}

describe('a generated row', () => {
  const profile = makeProfile();
  const models = new Map(profile.models.map((model) => [model.id, model]));
  let telemetry: TestTelemetry;
  let rows: Row[] = [];
  before(async () => {
    telemetry = await createTestTelemetry();
    const options = { rows: 60_000, days: 30, endMicros: END_MICROS, seed: 3 };
    await fillRequestLog(telemetry.client, telemetry.database, profile, options);
    const answer = await telemetry.client.query({
      query: 'SELECT * FROM request_log',
      format: 'JSONEachRow',
    });
    rows = await answer.json<Row>();
  });
  after(async () => telemetry[Symbol.asyncDispose]());

  const each = (isOne: (row: Row) => boolean, check: (row: Row) => void) => {
    const some = rows.filter(isOne);
    assert.ok(some.length > 0, 'no such row');
    for (const row of some) {
      try {
        check(row);
      } catch (error) {
        throw new Error(`${(error as Error).message}: ${JSON.stringify(row)}`, { cause: error });
      }
    }
  };
  const isMetered = (row: Row) => row.prompt_tokens !== null;
  const count = (text: string | null) => BigInt(text ?? '0');

  it('has a UUIDv7 of its time as its id', () => {
    each(
      () => true,
      ({ request_id, timestamp }) => {
        assert.match(request_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        const ms = Date.parse(`${timestamp.slice(0, 23).replace(' ', 'T')}Z`);
        assert.equal(Number.parseInt(request_id.replaceAll('-', '').slice(0, 12), 16), ms);
      },
    );
  });

  it('has the status and termination reason of its refusal, and every refusal occurs', () => {
    for (const [refusal, expected] of Object.entries(REFUSALS)) {
      each(
        (row) => row.refusal === refusal,
        (row) => {
          assert.equal(row.status, expected.status);
          assert.equal(row.termination_reason, expected.termination);
          assert.equal(row.upstream_model !== null, expected.isRouted);
          assert.ok(row.is_byok === 0 || expected.mayBeByok);
          assert.equal(isMetered(row), false);
        },
      );
    }
    assert.deepEqual(new Set(rows.map(({ refusal }) => refusal)), new Set(['', ...Object.keys(REFUSALS)]));
  });

  it('has no provider call and no waiting time if the gateway rejects it', () => {
    each(
      ({ refusal }) => OWN.includes(refusal),
      (row) => {
        assert.equal(row.pre_dispatch_ms, row.total_ms);
        assert.ok(row.total_ms > 0 && row.total_ms < 60);
        assert.equal(row.upstream_error, null);
      },
    );
    each(
      ({ refusal }) => !OWN.includes(refusal),
      (row) => assert.ok(row.pre_dispatch_ms < row.total_ms),
    );
    each(
      ({ refusal }) => refusal === 'key_expired',
      ({ model, stream }) => assert.ok(model === '' && !stream),
    );
    each(
      ({ refusal }) => refusal === 'model_not_found',
      ({ model }) => assert.ok(model !== '' && !models.has(model)),
    );
  });

  it('has no tokens and no cost if nothing was received', () => {
    each(
      (row) => !isMetered(row),
      (row) => {
        assert.deepEqual([row.tokens_generated, row.total_tokens, row.cost_micro_pkr], ['0', '0', '0']);
        assert.deepEqual([row.cache_creation_input_tokens, row.cache_read_input_tokens], [null, null]);
        assert.deepEqual([row.ttft_ms, row.tpot_ms, row.tokens_estimated], [null, null, false]);
        assert.ok(row.status >= 400);
      },
    );
  });

  it('is metered after a full or partial answer, and after a disconnect of the client', () => {
    each(isMetered, ({ status }) => assert.ok(status === 200 || status === 499));
    each(
      ({ status }) => status === 200 || status === 499,
      (row) => assert.ok(isMetered(row)),
    );
    each(
      ({ status }) => status === 499,
      (row) => {
        assert.equal(row.termination_reason, 'client_disconnect');
        assert.deepEqual([row.tokens_generated, row.ttft_ms, row.tokens_estimated], ['0', null, true]);
      },
    );
  });

  it('has ttft_ms and tpot_ms only if a stream began', () => {
    each(
      () => true,
      (row) => {
        assert.equal(row.ttft_ms !== null, row.stream && row.status === 200);
        assert.equal(row.tpot_ms !== null, row.ttft_ms !== null);
      },
    );
    each(
      ({ ttft_ms }) => ttft_ms !== null,
      ({ total_ms, ttft_ms, tpot_ms, pre_dispatch_ms, tokens_generated }) => {
        const [total, first] = [total_ms, ttft_ms ?? 0];
        assert.ok(pre_dispatch_ms < first && first <= total);
        const expected = (total - first) / Math.max(Number(tokens_generated) - 1, 1);
        assert.ok(Math.abs(expected - (tpot_ms ?? 0)) <= 0.001, `${expected}`);
      },
    );
    for (const name of ['total_ms', 'ttft_ms', 'tpot_ms', 'pre_dispatch_ms'] as const) {
      each(
        (row) => row[name] !== null,
        (row) => assert.equal(row[name], Math.round((row[name] ?? 0) * 1000) / 1000),
      );
    }
  });

  it('has one of four termination reasons, and the error of the provider', () => {
    const errors = (isOne: (row: Row) => boolean) =>
      new Set(rows.filter(isOne).map((row) => row.upstream_error));
    const ending = (termination: string) => (row: Row) => row.termination_reason === termination;
    assert.deepEqual(errors(ending('proxy_guillotine')), new Set(['timed out']));
    assert.deepEqual(errors(ending('client_disconnect')), new Set([null]));
    assert.deepEqual(
      errors((row) => ending('upstream_stream_aborted')(row) && row.status === 200),
      new Set(['the connection broke', 'the stream ended before the answer did']),
    );
    each(
      (row) => row.status === 200 && row.termination_reason !== 'success',
      (row) => assert.ok(row.stream && row.tokens_estimated),
    );
    each(
      (row) => row.status >= 400 && row.refusal === '' && row.status !== 499,
      (row) => {
        assert.equal(row.termination_reason, 'success');
        assert.ok(row.upstream_error && row.upstream_model !== null);
      },
    );
    each(
      (row) => row.status === 200 && row.termination_reason === 'success',
      (row) => assert.equal(row.upstream_error, null),
    );
  });

  it("has cache tokens only with the organisation's own provider key, if the provider reports them", () => {
    each(
      ({ is_byok }) => is_byok === 0,
      (row) => assert.deepEqual([row.cache_creation_input_tokens, row.cache_read_input_tokens], [null, null]),
    );
    each(
      (row) => row.is_byok === 1 && isMetered(row),
      (row) => {
        const model = models.get(row.model);
        assert.ok(model);
        const tells = !row.tokens_estimated;
        assert.equal(row.cache_read_input_tokens !== null, tells && model.cacheReadMicroPkrPerMillion > 0n);
        assert.equal(
          row.cache_creation_input_tokens !== null,
          tells && model.cacheWriteMicroPkrPerMillion > 0n,
        );
      },
    );
    each(
      (row) => count(row.cache_read_input_tokens) > 0n,
      (row) => assert.ok(isMetered(row)),
    );
    each(
      (row) => count(row.cache_creation_input_tokens) > 0n,
      (row) => assert.ok(isMetered(row)),
    );
  });

  it('has the sum of its tokens and their cost, summed first and divided once', () => {
    each(isMetered, (row) => {
      const [prompt, generated] = [count(row.prompt_tokens), count(row.tokens_generated)];
      const [write, read] = [count(row.cache_creation_input_tokens), count(row.cache_read_input_tokens)];
      assert.ok(prompt >= 0n);
      assert.equal(count(row.total_tokens), prompt + generated + write + read);
      const model = models.get(row.model);
      assert.ok(model);
      const product = productOf(model, { prompt, generated, write, read });
      const expected =
        row.is_byok === 1
          ? (product * model.byokFeeMillionths + 500_000_000_000n) / 1_000_000_000_000n
          : (product + 500_000n) / 1_000_000n;
      assert.equal(row.cost_micro_pkr, expected.toString());
    });
    each(
      ({ cost_micro_pkr }) => cost_micro_pkr !== '0',
      (row) => assert.ok(isMetered(row)),
    );
  });

  it('has the attempts that gave it its outcome, and none if the gateway rejects it', () => {
    each(
      ({ refusal }) => OWN.includes(refusal),
      ({ attempts }) => assert.equal(attempts, ''),
    );
    const endings = new Set<string>();
    const counts = new Set<number>();
    each(
      ({ refusal }) => !OWN.includes(refusal),
      (row) => {
        const attempts = readAttempts(row.attempts);
        const last = attempts.at(-1);
        assert.ok(last);
        counts.add(attempts.length);
        endings.add(last.ending);
        assert.equal(attempts[0]?.startedMs, row.pre_dispatch_ms);
        assert.ok(Math.abs(last.startedMs + last.totalMs - row.total_ms) < 0.002);
        assert.ok(
          last.ttftMs === null || Math.abs(last.startedMs + last.ttftMs - (row.ttft_ms ?? 0)) < 0.002,
        );
        assert.equal(last.ttftMs === null, row.ttft_ms === null);
        assert.equal(last.upstreamModel, row.upstream_model);
        assert.deepEqual([last.isByok, last.credential === 'own'], [row.is_byok === 1, row.is_byok === 1]);
        assert.deepEqual(
          [last.costMicroPkr, String(last.promptTokens), String(last.tokensGenerated), last.error],
          [BigInt(row.cost_micro_pkr), String(row.prompt_tokens), row.tokens_generated, row.upstream_error],
        );
        const isFailure = row.upstream_error !== null || row.termination_reason !== 'success';
        assert.equal(last.ending !== 'served', isFailure);
        assert.ok(last.status === null || last.status === row.status);
        const [first] = attempts;
        if (first === last) return;
        assert.ok(first && first.startedMs + first.totalMs <= last.startedMs + 0.002);
        assert.deepEqual([first.ending, first.costMicroPkr], ['error_status', 0n]);
        assert.notEqual(first.credential, last.credential);
      },
    );
    assert.deepEqual(counts, new Set([1, 2]));
    assert.deepEqual(
      endings,
      new Set(['served', 'error_status', 'unreachable', 'timed_out', 'broken', 'client_disconnect']),
    );
  });

  it('has the upstream model of its route and a known user agent', () => {
    each(
      ({ upstream_model }) => upstream_model !== null,
      (row) => assert.equal(row.upstream_model, models.get(row.model)?.upstreamModel),
    );
    each(
      () => true,
      ({ user_agent }) => assert.match(user_agent, /^[\w-]+(\/\w+)?[ /]\d+\.\d+/),
    );
  });
});

function productOf(
  model: TrafficModel,
  tokens: Record<'prompt' | 'generated' | 'write' | 'read', bigint>,
): bigint {
  return (
    tokens.prompt * model.inputMicroPkrPerMillion +
    tokens.generated * model.outputMicroPkrPerMillion +
    tokens.write * model.cacheWriteMicroPkrPerMillion +
    tokens.read * model.cacheReadMicroPkrPerMillion
  );
}
