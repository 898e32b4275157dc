import { constantTable } from './constant-table.ts';
import type { Batch, Burst } from './plan-batches.ts';
import type { Population } from './population.ts';

// The tables that the rows of a batch are joined with: lists of the population and of the batch, by index.

export function cellTable({ cellMicros }: Batch): string {
  return constantTable(cellMicros.slice(0, -1), {
    cell: { type: 'UInt32', value: (_, cell) => cell },
    cell_start: { type: 'Int64', value: (micros) => micros },
    cell_length: { type: 'Int64', value: (micros, cell) => (cellMicros[cell + 1] ?? micros) - micros },
  });
}

export function keyChoices({ keys: { chances, others } }: Batch): string {
  return constantTable(chances, {
    slot: { type: 'UInt32', value: (_, slot) => slot },
    own_chance: { type: 'Float64', value: (chance) => chance },
    other_key: { type: 'UInt32', value: (_, slot) => others[slot] ?? slot },
  });
}

// A table cannot be empty, so the first row belongs to no stretch.
const NO_BURST: Burst = { stretch: 2 ** 32 - 1, key: 0, rows: 0, startMicros: 0n, lengthMicros: 0 };

export function burstTable({ keys }: Population, { bursts }: Batch): string {
  return constantTable([NO_BURST, ...bursts], {
    stretch: { type: 'UInt32', value: ({ stretch }) => stretch },
    burst_key: { type: 'UInt32', value: ({ key }) => key },
    burst_rows: { type: 'UInt32', value: ({ rows }) => rows },
    burst_limit: { type: 'UInt32', value: ({ key }) => keys[key]?.rateLimitRpm ?? 0 },
    burst_start: { type: 'Int64', value: ({ startMicros }) => startMicros },
    burst_length: { type: 'Int64', value: ({ lengthMicros }) => lengthMicros },
  });
}

export function keyTable({ keys }: Population, { expiredKeys }: Batch): string {
  const expired = new Set(expiredKeys);
  return constantTable(keys, {
    key: { type: 'UInt32', value: (_, key) => key },
    is_expired: { type: 'UInt8', value: (_, key) => expired.has(key) },
    is_restricted: { type: 'UInt8', value: ({ models }) => models !== undefined },
    organization: { type: 'UUID', value: ({ organizationId }) => organizationId },
    project: { type: 'UUID', value: ({ projectId }) => projectId },
    key_uuid: { type: 'UUID', value: ({ id }) => id },
    mix: { type: 'UInt32', value: ({ mix }) => mix },
    log_prompt: { type: 'Float64', value: ({ promptMedian }) => Math.log(promptMedian) },
    log_output: { type: 'Float64', value: ({ outputMedian }) => Math.log(outputMedian) },
    stream_share: { type: 'Float64', value: ({ streamShare }) => streamShare },
    agent: { type: 'LowCardinality(String)', value: ({ userAgent }) => userAgent },
    team: { type: 'LowCardinality(String)', value: ({ team }) => team },
    feature: { type: 'LowCardinality(String)', value: ({ feature }) => feature },
    labelled_share: { type: 'Float64', value: ({ labelledShare }) => labelledShare },
  });
}

export function mixTable({ mixes, models }: Population): string {
  const slots = mixes.flatMap(({ chances, others, areByok }, mix) =>
    chances.map((chance, model) => {
      const other = others[model] ?? model;
      const isByok = areByok[model] ?? false;
      const isOtherByok = areByok[other] ?? false;
      return { slot: mix * models.length + model, model, other, chance, isByok, isOtherByok };
    }),
  );
  return constantTable(slots, {
    mix_slot: { type: 'UInt32', value: ({ slot }) => slot },
    own_model: { type: 'UInt32', value: ({ model }) => model },
    other_model: { type: 'UInt32', value: ({ other }) => other },
    own_model_chance: { type: 'Float64', value: ({ chance }) => chance },
    own_is_byok: { type: 'UInt8', value: ({ isByok }) => isByok },
    other_is_byok: { type: 'UInt8', value: ({ isOtherByok }) => isOtherByok },
  });
}

export function modelTable({ models }: Population): string {
  return constantTable(models, {
    model_index: { type: 'UInt32', value: (_, index) => index },
    model_id: { type: 'LowCardinality(String)', value: ({ id }) => id },
    upstream: { type: 'LowCardinality(String)', value: ({ upstreamModel }) => upstreamModel },
    price_in: { type: 'UInt64', value: (model) => model.inputMicroPkrPerMillion },
    price_out: { type: 'UInt64', value: (model) => model.outputMicroPkrPerMillion },
    price_write: { type: 'UInt64', value: (model) => model.cacheWriteMicroPkrPerMillion },
    price_read: { type: 'UInt64', value: (model) => model.cacheReadMicroPkrPerMillion },
    has_cache_write: { type: 'UInt8', value: (model) => model.cacheWriteMicroPkrPerMillion > 0n },
    has_cache_read: { type: 'UInt8', value: (model) => model.cacheReadMicroPkrPerMillion > 0n },
    fee: { type: 'UInt64', value: ({ byokFeeMillionths }) => byokFeeMillionths },
    timeout_ms: { type: 'UInt32', value: ({ timeoutMs }) => timeoutMs },
    first_token: { type: 'Float64', value: ({ firstTokenMs }) => firstTokenMs },
    token_length: { type: 'Float64', value: ({ tokensPerSecond }) => 1000 / tokensPerSecond },
  });
}
