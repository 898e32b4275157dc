import { draw, drawUuid } from './draws.ts';
import { type TrafficModel, type TrafficOrganization, type TrafficProfile, zipf } from './traffic-profile.ts';

export interface BenchProfileOptions {
  readonly organizations: number;
  readonly seed: number;
}

const MAX_KEYS = 60;
const MIN_KEYS = 5;
const KEYS_PER_PROJECT = 6;
const MIN_PROJECTS = 2;
const RATE_LIMITS = [30, 60, 60, 120, 240];
const BYOK_SHARE = 0.2;
const BYOK_FEE_MILLIONTHS = 50_000n;
const TIMEOUT_MS = 600_000;

// The most popular first: provider, model, PKR per million tokens of input, output, cache writes, cache reads.
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
 * Many organisations, for benchmarks. Weights follow Zipf's law, so the largest of a hundred has a fifth of all
 * requests. An organisation has 60 to 5 keys, in two or more projects. Organisations, keys and models are sorted by
 * weight, the heaviest first.
 */
export function makeBenchProfile({ organizations, seed }: BenchProfileOptions): TrafficProfile {
  return {
    organizations: zipf(organizations).map((weight, rank) => organizationOf(rank, weight, seed)),
    models: benchModels(),
  };
}

function organizationOf(rank: number, weight: number, seed: number): TrafficOrganization {
  const keys = Math.max(MIN_KEYS, Math.round(MAX_KEYS / (rank + 1)));
  const projects = Math.max(MIN_PROJECTS, Math.round(keys / KEYS_PER_PROJECT));
  return {
    id: drawUuid(seed, 'organization', rank),
    weight,
    keys: zipf(keys).map((keyWeight, index) => ({
      id: drawUuid(seed, 'key', rank, index),
      projectId: drawUuid(seed, 'project', rank, index % projects),
      weight: keyWeight,
      rateLimitRpm: RATE_LIMITS[Math.floor(draw(seed, 'limit', rank, index) * RATE_LIMITS.length)] ?? 60,
    })),
  };
}

function benchModels(): TrafficModel[] {
  const weights = zipf(MODELS.length);
  const perMillion = (pkr: number) => BigInt(Math.round(pkr * 1_000_000));
  return MODELS.map(([provider, name, input, output, cacheWrite, cacheRead], index) => ({
    id: `${provider}/${name}`,
    upstreamModel: name,
    weight: weights[index] ?? 1,
    inputMicroPkrPerMillion: perMillion(input),
    outputMicroPkrPerMillion: perMillion(output),
    cacheWriteMicroPkrPerMillion: perMillion(cacheWrite),
    cacheReadMicroPkrPerMillion: perMillion(cacheRead),
    byokFeeMillionths: BYOK_FEE_MILLIONTHS,
    byokShare: BYOK_SHARE,
    timeoutMs: TIMEOUT_MS,
  }));
}
