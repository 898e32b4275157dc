import { draw, drawUuid } from './draws.ts';
import { type TrafficModel, type TrafficOrganization, type TrafficWorld, zipf } from './traffic-world.ts';

export interface BenchWorldOptions {
  readonly organizations: number;
  readonly seed: number;
}

const MOST_KEYS = 60;
const LEAST_KEYS = 5;
const KEYS_PER_PROJECT = 6;
const LEAST_PROJECTS = 2;
const RATE_LIMITS = [30, 60, 60, 120, 240];
const BYOK_SHARE = 0.2;
const BYOK_FEE_MILLIONTHS = 50_000n;
const TIMEOUT_MS = 600_000;

// The most liked first: provider, model, PKR for a million tokens in, out, written to the cache, read from it.
const MODELS: readonly [string, string, number, number, number, number][] = [
  ['openai', 'gpt-5-mini', 71.25, 570, 0, 7.125],
  ['anthropic', 'claude-sonnet-5-5', 570, 2850, 712.5, 57],
  ['google', 'gemini-3.5-flash-lite', 85.5, 712.5, 0, 8.55],
  ['openai', 'gpt-6-luna', 28.5, 142.5, 35.625, 2.85],
  ['deepseek', 'deepseek-flash', 80, 320, 0, 1.6],
  ['anthropic', 'claude-haiku-4-5', 285, 1425, 356.25, 28.5],
  ['openai', 'gpt-5', 356.25, 2850, 0, 35.625],
  ['groq', 'gpt-oss-120b', 42.75, 171, 0, 21.375],
  ['google', 'gemini-3.8-flash', 213.75, 1068.75, 0, 21.375],
  ['groq', 'llama-3.3-70b', 168.15, 225.15, 0, 0],
  ['openai', 'gpt-6-sol', 570, 2850, 712.5, 57],
  ['mistral', 'mistral-small-latest', 42.75, 171, 0, 0],
  ['deepseek', 'deepseek-v4-pro', 360, 1080, 0, 12],
  ['anthropic', 'claude-opus-5-5', 1140, 5700, 1425, 57],
  ['mistral', 'mistral-medium-latest', 427.5, 2137.5, 0, 0],
  ['qwen', 'qwen-4-max', 342, 1710, 0, 34.2],
  ['qwen', 'qwen-4-flash', 14.25, 114, 0, 1.425],
  ['cohere', 'command-a', 712.5, 2850, 0, 0],
  ['local', 'llama', 0, 0, 0, 0],
  ['local', 'qwen-coder', 0, 0, 0, 0],
];

/**
 * Many organisations, for measuring. Weights by Zipf's law, so that of a hundred the largest has a fifth of all
 * requests; from 60 keys down to 5, in two projects and more. Organisations, keys and models stand by weight, the
 * heaviest first.
 */
export function makeBenchWorld({ organizations, seed }: BenchWorldOptions): TrafficWorld {
  return {
    organizations: zipf(organizations).map((weight, rank) => organizationOf(rank, weight, seed)),
    models: benchModels(),
  };
}

function organizationOf(rank: number, weight: number, seed: number): TrafficOrganization {
  const keys = Math.max(LEAST_KEYS, Math.round(MOST_KEYS / (rank + 1)));
  const projects = Math.max(LEAST_PROJECTS, Math.round(keys / KEYS_PER_PROJECT));
  return {
    id: drawUuid(seed, 'organization', rank),
    weight,
    keys: zipf(keys).map((keyWeight, place) => ({
      id: drawUuid(seed, 'key', rank, place),
      projectId: drawUuid(seed, 'project', rank, place % projects),
      weight: keyWeight,
      rateLimitRpm: RATE_LIMITS[Math.floor(draw(seed, 'limit', rank, place) * RATE_LIMITS.length)] ?? 60,
    })),
  };
}

function benchModels(): TrafficModel[] {
  const weights = zipf(MODELS.length);
  const perMillion = (pkr: number) => BigInt(Math.round(pkr * 1_000_000));
  return MODELS.map(([provider, name, input, output, cacheWrite, cacheRead], place) => ({
    id: `${provider}/${name}`,
    upstreamModel: name,
    weight: weights[place] ?? 1,
    inputMicroPkrPerMillion: perMillion(input),
    outputMicroPkrPerMillion: perMillion(output),
    cacheWriteMicroPkrPerMillion: perMillion(cacheWrite),
    cacheReadMicroPkrPerMillion: perMillion(cacheRead),
    byokFeeMillionths: BYOK_FEE_MILLIONTHS,
    byokShare: BYOK_SHARE,
    timeoutMs: TIMEOUT_MS,
  }));
}
