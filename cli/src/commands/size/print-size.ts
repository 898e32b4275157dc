import { type Demand, sizeFor, USUAL_DEMAND } from '../../sizing/size.ts';
import { sizeRows } from '../../sizing/size-lines.ts';
import type { Context } from '../../terminal/command.ts';
import { invalidValue } from '../../terminal/errors.ts';
import { columns, print } from '../../terminal/output.ts';

const DIGITS = /^\d{1,7}(?:\.\d{1,3})?$/;

interface SizeArguments {
  readonly rate: string;
  readonly mean: string | undefined;
  readonly streams: string | undefined;
  readonly days: string | undefined;
  readonly 'body-kb': string | undefined;
}

export async function printSize(args: SizeArguments, context: Context): Promise<number> {
  const demand: Demand = {
    rate: numberOf('rate', args.rate, 1, 1_000_000),
    mean: numberOf('mean', args.mean, 0, 1) ?? USUAL_DEMAND.mean,
    streams: numberOf('streams', args.streams, 0, 1) ?? USUAL_DEMAND.streams,
    days: numberOf('days', args.days, 1, 36_500) ?? USUAL_DEMAND.days,
    bodyKb: numberOf('body-kb', args['body-kb'], 0, 100_000) ?? USUAL_DEMAND.bodyKb,
  };
  const size = sizeFor(demand);
  print(context, { demand, size }, columns(sizeRows([size])));
  return 0;
}

function numberOf(name: string, text: string, least: number, most: number): number;
function numberOf(name: string, text: string | undefined, least: number, most: number): number | undefined;
function numberOf(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalidValue(`--${name}`, text, `a number from ${least} to ${most}, with at most 3 decimals`);
}
