import {
  DEFAULT_RATE_LIMIT_RPM,
  MAX_ALLOWED_MODELS,
  MAX_EPOCH_SECONDS,
  MAX_NAME_LENGTH,
} from '@gatehouse/contract';
import type { ImportedKey } from '@gatehouse/control-plane/keys';
import {
  amountCell,
  booleanCell,
  CellError,
  identityOf,
  identityOfHash,
  instantCell,
  leftOf,
  listCell,
  microPkrOf,
  pkrCell,
  textCell,
  wholeNumberCell,
} from './cells.ts';
import type { ImportRow } from './read-rows.ts';

/** The settings that rows are read with. */
export interface ImportOptions {
  /** PKR of a dollar; undefined where none was given. */
  readonly usdPkr: number | undefined;
  readonly rateLimitCeilingRpm: number;
}

/** A key, or why a row is none: it is left out, because it does not work there either. */
export type ReadKey = ImportedKey | { readonly leftOut: string };

export type ReadRow = (row: ImportRow, options: ImportOptions) => ReadKey;

/** Each file that keys can be imported from. @throws CellError */
export const FORMATS: Readonly<Record<string, ReadRow>> = {
  gatehouse: readGatehouse,
  litellm: readLitellm,
  'new-api': readNewApi,
};

/** A quota of new-api, of which so many are a dollar. */
const QUOTA_PER_DOLLAR = 500_000;

function readGatehouse(row: ImportRow, options: ImportOptions): ReadKey {
  const [secret, sha256] = [textCell(row, 'secret'), textCell(row, 'sha256')];
  if ((secret === undefined) === (sha256 === undefined))
    throw new CellError('expected one of sha256 and secret');
  const identity = secret === undefined ? identityOfHash(sha256 ?? '') : identityOf(secret);
  const limit = pkrCell(row, 'credit_limit_pkr');
  const spent = pkrCell(row, 'spent_pkr') ?? 0n;
  return {
    ...identity,
    line: row.line,
    name: nameOf(textCell(row, 'name'), identity.keyPrefix),
    rateLimitRpm: rateOf(wholeNumberCell(row, 'rate_limit_rpm') ?? DEFAULT_RATE_LIMIT_RPM, options),
    // As everywhere in Gatehouse, 0 is no limit.
    creditLimitMicroPkr: limit ? leftOf(limit, spent) : null,
    expiresAt: instantCell(row, 'expires_at') ?? null,
    models: modelsOf(listCell(row, 'allowed_models')),
  };
}

function readLitellm(row: ImportRow, options: ImportOptions): ReadKey {
  if (booleanCell(row, 'blocked')) return { leftOut: 'blocked' };
  const token = textCell(row, 'token');
  if (token === undefined) throw new CellError('it has no token');
  const identity = token.startsWith('sk-') ? identityOf(token) : identityOfHash(token);
  const limit = inMicroPkr(row, 'max_budget', 'down', options);
  const rate = wholeNumberCell(row, 'rpm_limit');
  return {
    ...identity,
    line: row.line,
    name: nameOf(textCell(row, 'key_alias') ?? textCell(row, 'key_name'), identity.keyPrefix),
    // Without a limit there, the key has the highest that there is here.
    rateLimitRpm: rateOf(rate ?? options.rateLimitCeilingRpm, options),
    creditLimitMicroPkr:
      limit === undefined ? null : leftOf(limit, inMicroPkr(row, 'spend', 'up', options) ?? 0n),
    expiresAt: instantCell(row, 'expires') ?? null,
    models: modelsOf(listCell(row, 'models')?.filter((name) => !/^all-(team|proxy)-models$/.test(name))),
  };
}

function readNewApi(row: ImportRow, options: ImportOptions): ReadKey {
  const status = wholeNumberCell(row, 'status') ?? 1;
  // 1 enabled, 2 disabled, 3 expired, 4 used up.
  if (status === 2) return { leftOut: 'disabled' };
  if (textCell(row, 'deleted_at') !== undefined || textCell(row, 'deletedat') !== undefined)
    return { leftOut: 'deleted' };
  const key = textCell(row, 'key');
  if (key === undefined) throw new CellError('it has no key');
  const identity = identityOf(key.startsWith('sk-') ? key : `sk-${key}`);
  const quota = wholeNumberCell(row, 'remain_quota');
  const isLimited = !booleanCell(row, 'unlimited_quota');
  if (isLimited && quota === undefined) throw new CellError('it has no remain_quota');
  const expires = wholeNumberCell(row, 'expired_time') ?? -1;
  const hasModels =
    textCell(row, 'model_limits_enabled') === undefined || booleanCell(row, 'model_limits_enabled');
  return {
    ...identity,
    line: row.line,
    name: nameOf(textCell(row, 'name'), identity.keyPrefix),
    rateLimitRpm: options.rateLimitCeilingRpm,
    creditLimitMicroPkr: isLimited ? leftOf(quotaInMicroPkr(quota ?? 0, options), 0n) : null,
    expiresAt: expires < 0 ? null : instantOf(expires),
    models: hasModels ? modelsOf(listCell(row, 'model_limits')) : null,
  };
}

function inMicroPkr(
  row: ImportRow,
  name: string,
  round: 'down' | 'up',
  options: ImportOptions,
): bigint | undefined {
  const dollars = amountCell(row, name);
  return dollars === undefined ? undefined : microPkrOf(name, dollars * rateOfDollar(name, options), round);
}

function quotaInMicroPkr(quota: number, options: ImportOptions): bigint {
  const dollars = Math.max(quota, 0) / QUOTA_PER_DOLLAR;
  return microPkrOf('remain_quota', dollars * rateOfDollar('remain_quota', options), 'down');
}

function instantOf(epochSeconds: number): string {
  if (epochSeconds > MAX_EPOCH_SECONDS)
    throw new CellError('expired_time is no time in seconds since 1970, up to the year 9999');
  return new Date(epochSeconds * 1_000).toISOString();
}

function rateOfDollar(name: string, { usdPkr }: ImportOptions): number {
  if (usdPkr === undefined)
    throw new CellError(`${name} is in dollars: say with --usd-pkr how many PKR one is`);
  return usdPkr;
}

function nameOf(text: string | undefined, keyPrefix: string): string {
  const name = text === undefined || text === '' ? keyPrefix : text;
  if (/\p{Cc}/u.test(name) || !name.isWellFormed() || [...name].length > MAX_NAME_LENGTH)
    throw new CellError(`its name is not one line of at most ${MAX_NAME_LENGTH} characters`);
  return name;
}

function rateOf(rpm: number, { rateLimitCeilingRpm }: ImportOptions): number {
  if (rpm < 1) throw new CellError('its rate is below 1 request a minute, and the lowest is 1');
  return Math.min(rpm, rateLimitCeilingRpm);
}

function modelsOf(models: readonly string[] | undefined): readonly string[] | null {
  if (models === undefined || models.length === 0) return null;
  if (models.length > MAX_ALLOWED_MODELS)
    throw new CellError(`it has more than ${MAX_ALLOWED_MODELS} models`);
  return models;
}
