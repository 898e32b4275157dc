import { sqlName } from '@gatehouse/store/clickhouse-sql';
import { seedOfRows } from './draws.ts';
import { burstTable, cellTable, keyChoices, keyTable, mixTable, modelTable } from './fill-tables.ts';
import { measureRows } from './measure-rows.ts';
import { OUTCOME_OF_ROW, TROUBLE_FACTOR, TROUBLE_MICROS, TROUBLE_ONE_IN } from './outcomes.ts';
import { type Batch, rowsPerStretch, type TrafficWindow } from './plan-batches.ts';
import type { Population } from './population.ts';
import { callRows, REQUEST_LOG_SELECT } from './request-log-select.ts';

// One statement makes the rows of a batch inside the engine, in stages. Each stage is a subquery over the previous one:
//
//   numbered -> timed (time and key) -> keyed (the key's columns) -> mixed (model) -> drawn (sizes and times)
//   -> decided (outcome) -> measured (tokens and durations) -> called (its attempts)
//   -> the columns
//
// There are many short stages, because the engine substitutes an alias wherever its own stage uses it: aliases of
// aliases of the same stage cost it seconds.
//
// Each random number is a hash of the row's number and the purpose, so a row does not depend on the batches.

const NUMBERS_PER_ROW = 64;

/** The INSERT that makes the rows of the batch. */
export function fillStatement(
  database: string,
  population: Population,
  window: TrafficWindow,
  batch: Batch,
): string {
  const chance = chanceOf(window.seed);
  const normal = (first: number) =>
    `sqrt(-2 * log(1 - ${chance(first)})) * cos(2 * pi() * ${chance(first + 1)})`;
  const cells = batch.cellMicros.length - 1;
  const stretchRows = rowsPerStretch(window.rows);
  const models = population.models.length;

  const numbered = `
    SELECT i,
      (i - ${batch.firstRow} + ${chance(0)}) * ${cells} / ${batch.rows} AS cell_position,
      toUInt32(least(floor(cell_position), ${cells - 1})) AS cell,
      toUInt32(intDiv(i, ${stretchRows})) AS stretch, i % ${stretchRows} AS nth,
      toUInt32(least(floor(${chance(1)} * ${population.keys.length}), ${population.keys.length - 1})) AS slot
    FROM (SELECT number + ${batch.firstRow} AS i FROM numbers(${batch.rows}))`;

  const timed = `
    SELECT i, nth < burst_rows AS is_burst, is_burst AND nth >= burst_limit AS is_throttled,
      toUInt32(multiIf(is_burst, burst_key, ${chance(2)} < own_chance, slot, other_key)) AS key,
      if(is_burst,
        burst_start + toInt64(burst_length * (nth + ${chance(0)}) / burst_rows),
        cell_start + toInt64(cell_length * (cell_position - cell))) AS drawn_micros,
      least(greatest(drawn_micros, ${batch.fromMicros}), ${batch.untilMicros - 1n}) AS micros
    FROM (${numbered}) AS numbered
    INNER JOIN ${cellTable(batch)} AS cells USING cell
    INNER JOIN ${keyChoices(batch)} AS choices USING slot
    LEFT ANY JOIN ${burstTable(population, batch)} AS bursts USING stretch`;

  const keyed = `
    SELECT *, toUInt32(mix * ${models} + least(floor(${chance(3)} * ${models}), ${models - 1})) AS mix_slot
    FROM (${timed}) AS timed INNER JOIN ${keyTable(population, batch)} AS keys USING key`;

  const mixed = `
    SELECT *, if(${chance(4)} < own_model_chance, own_model, other_model) AS model_index,
      if(model_index = own_model, own_is_byok, other_is_byok) AS with_own_key
    FROM (${keyed}) AS keyed INNER JOIN ${mixTable(population)} AS mixes USING mix_slot`;

  const drawn = `
    SELECT *,
      ${chance(5)} < stream_share AS wants_stream,
      1.2 + exp(0.3 + 0.5 * ${normal(6)}) AS before_dispatch,
      toUInt64(least(greatest(floor(exp(log_prompt + 0.85 * ${normal(8)})), 8), 180000)) AS whole_prompt,
      toUInt64(least(greatest(floor(exp(log_output + 0.8 * ${normal(10)})), 1), 16000)) AS whole_output,
      first_token * exp(0.4 * ${normal(12)}) + whole_prompt * 0.015 * least(first_token / 300, 1) AS until_first,
      token_length * exp(0.22 * ${normal(14)}) AS per_token,
      intHash64(${seedOfRows(window.seed)} + model_index * 1000003 + intDiv(micros, ${TROUBLE_MICROS}) * 31)
        % ${TROUBLE_ONE_IN} = 0 AS is_trouble,
      ${chance(16)} AS refused_by, ${chance(17)} / if(is_trouble, ${TROUBLE_FACTOR}, 1) AS failed_by,
      ${chance(18)} AS left_by, ${chance(19)} AS detail, ${chance(20)} AS length_by, ${chance(21)} AS part,
      ${chance(22)} AS cached_by, ${chance(23)} AS written_by, ${chance(24)} AS labelled_by,
      ${chance(25)} AS customer_by, ${chance(26)} AS agent_by,
      ${chance(29)} AS retried_by,
      intHash64(${seedOfRows(window.seed)} + i * ${NUMBERS_PER_ROW} + 27) AS high_bits,
      intHash64(${seedOfRows(window.seed)} + i * ${NUMBERS_PER_ROW} + 28) AS low_bits
    FROM (${mixed}) AS mixed
    INNER JOIN ${modelTable(population)} AS models USING model_index`;

  const decided = `SELECT *, ${OUTCOME_OF_ROW} AS outcome FROM (${drawn}) AS drawn`;
  return `INSERT INTO ${sqlName(database)}.request_log (${Object.keys(REQUEST_LOG_SELECT).join(', ')})
    SELECT ${Object.entries(REQUEST_LOG_SELECT)
      .map(([name, sql]) => `${sql} AS made_${name}`)
      .join(', ')}
    FROM (${callRows(measureRows(decided))}) AS called`;
}

/** A random number of the row for this purpose, at least 0 and below 1. */
function chanceOf(seed: number): (purpose: number) => string {
  const base = seedOfRows(seed);
  return (purpose) =>
    `(bitShiftRight(intHash64(${base} + i * ${NUMBERS_PER_ROW} + ${purpose}), 11) / 9007199254740992.)`;
}
