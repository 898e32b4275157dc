import {
  decimalFromMicroPkr,
  epochMicrosFromTimestamp,
  hashGatewayKey,
  MAX_AMOUNT_MICRO_PKR,
  microPkrFromDecimal,
  timestampWithOffset,
} from '@gatehouse/contract';
import type { ImportRow } from './read-rows.ts';

/** A cell, or several of a row, cannot be used. The message says what is accepted and holds no secret. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

const MICRO = 1_000_000;
const MAX_PKR = decimalFromMicroPkr(MAX_AMOUNT_MICRO_PKR);
/** Digits that a floating-point number has for certain: 8.2 times a million is 8,200,000. */
const CERTAIN_DIGITS = 15;

export function textCell({ cells }: ImportRow, name: string): string | undefined {
  const cell = cells.get(name);
  return cell === undefined ? undefined : String(cell).trim();
}

/** An amount of PKR in micro-PKR, exactly. */
export function pkrCell(row: ImportRow, name: string): bigint | undefined {
  const text = textCell(row, name);
  if (text === undefined) return undefined;
  const amount = microPkrFromDecimal(text);
  if (typeof amount === 'bigint') return amount;
  throw new CellError(`${name} is no amount from 0 to ${MAX_PKR} with at most 6 decimals`);
}

/** An amount that is not negative, such as 12.5 or 1e-05. */
export function amountCell(row: ImportRow, name: string): number | undefined {
  const text = textCell(row, name);
  if (text === undefined) return undefined;
  if (/^[0-9]*\.?[0-9]+(?:e[+-]?[0-9]{1,3})?$/i.test(text)) return Number(text);
  throw new CellError(`${name} is no amount, such as 12.5`);
}

/** PKR of the other currency in micro-PKR, rounded so that a key never gets more than it had. */
export function microPkrOf(name: string, pkr: number, round: 'down' | 'up'): bigint {
  const micro = Number((pkr * MICRO).toPrecision(CERTAIN_DIGITS));
  if (micro > Number(MAX_AMOUNT_MICRO_PKR)) throw new CellError(`${name} is more than ${MAX_PKR} PKR`);
  return BigInt(round === 'down' ? Math.floor(micro) : Math.ceil(micro));
}

/** The rest of a limit in micro-PKR, at least the smallest amount, because none would be no limit. */
export function leftOf(limitMicroPkr: bigint, spentMicroPkr: bigint): bigint {
  const left = limitMicroPkr - spentMicroPkr;
  return left > 1n ? left : 1n;
}

export function wholeNumberCell(row: ImportRow, name: string): number | undefined {
  const text = textCell(row, name);
  if (text === undefined) return undefined;
  if (!/^-?[0-9]{1,15}$/.test(text)) throw new CellError(`${name} is no whole number`);
  return Number(text);
}

export function booleanCell(row: ImportRow, name: string): boolean {
  return /^(true|t|1|yes)$/i.test(textCell(row, name) ?? '');
}

/** An instant: ISO 8601, with a space or a T, in UTC where it has no offset. */
export function instantCell(row: ImportRow, name: string): string | undefined {
  const text = textCell(row, name);
  if (text === undefined) return undefined;
  const [, date, minute, second = ':00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)? ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/i.exec(
      text,
    ) ?? [];
  const offset = zone
    .replace(/^UTC$/i, 'Z')
    .replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`);
  const epochMicros = epochMicrosFromTimestamp(`${date}T${minute ?? '00:00'}${second}${offset}`);
  if (epochMicros === undefined) throw new CellError(`${name} is no time such as 2026-12-31T00:00:00Z`);
  return timestampWithOffset(epochMicros);
}

/** Names in a list: of JSON, of PostgreSQL ({a,b}), or with commas. Empty: undefined. */
export function listCell({ cells }: ImportRow, name: string): string[] | undefined {
  const cell = cells.get(name);
  if (cell === undefined) return undefined;
  let list: unknown = cell;
  if (typeof cell === 'string') {
    const text = cell.trim();
    if (text.startsWith('[')) {
      try {
        list = JSON.parse(text);
      } catch {
        throw new CellError(`${name} is no list`);
      }
    } else
      list = text
        .replace(/^\{(.*)\}$/s, '$1')
        .split(',')
        .map((one) => one.trim().replace(/^"(.*)"$/, '$1'));
  }
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string'))
    throw new CellError(`${name} is no list of names`);
  const names = list.filter((one) => one !== '');
  return names.length === 0 ? undefined : names;
}

/** The hash of a secret in the file, and the part of it that may be shown: no more than a quarter. */
export function identityOf(secret: string): { readonly hash: string; readonly keyPrefix: string } {
  if (!/^[\x21-\x7e]{16,255}$/.test(secret))
    throw new CellError('its secret has not 16 to 255 visible characters of ASCII');
  const shownLength = Math.min(8, Math.floor(secret.length / 4));
  return { hash: hashGatewayKey(secret).toString('hex'), keyPrefix: secret.slice(0, shownLength) };
}

/** The same where only the hash is known, which then names the key. */
export function identityOfHash(text: string): { readonly hash: string; readonly keyPrefix: string } {
  const hash = text.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new CellError('its SHA-256 has not 64 hexadecimal digits');
  return { hash, keyPrefix: `sha256_${hash.slice(0, 8)}` };
}
