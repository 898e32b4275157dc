import { type AliasTable, aliasTable } from './alias-table.ts';
import { draw } from './draws.ts';
import type { TrafficKey, TrafficModel, TrafficProfile } from './traffic-profile.ts';

// The profile as lists that rows refer to by index, with the random properties of each key and model.

export interface PopulationKey extends TrafficKey {
  readonly organizationId: string;
  /** Its share of all requests. */
  readonly share: number;
  /** The index of its mix of models. */
  readonly mix: number;
  readonly promptMedian: number;
  readonly outputMedian: number;
  readonly streamShare: number;
  readonly userAgent: string;
  readonly team: string;
  readonly feature: string;
  /** The share of its requests that carry metadata. */
  readonly labelledShare: number;
}

export interface PopulationModel extends TrafficModel {
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
}

export interface Mix extends AliasTable {
  /** For each model, whether the organisation uses its own provider key. */
  readonly areByok: readonly boolean[];
}

export interface Population {
  readonly keys: readonly PopulationKey[];
  readonly models: readonly PopulationModel[];
  readonly mixes: readonly Mix[];
}

interface Use {
  readonly feature: string;
  readonly promptMedian: number;
  readonly outputMedian: number;
  readonly streamShare: number;
}

const USES: readonly Use[] = [
  { feature: 'chat', promptMedian: 700, outputMedian: 210, streamShare: 0.72 },
  { feature: 'agent', promptMedian: 4200, outputMedian: 320, streamShare: 0.62 },
  { feature: 'summary', promptMedian: 2600, outputMedian: 260, streamShare: 0.52 },
  { feature: 'search', promptMedian: 1500, outputMedian: 120, streamShare: 0.62 },
  { feature: 'extraction', promptMedian: 1100, outputMedian: 90, streamShare: 0.5 },
];
const TEAMS = ['platform', 'growth', 'support', 'data', 'mobile', 'research'];
const USER_AGENTS = [
  'OpenAI/Python 2.8.1',
  'OpenAI/JS 6.9.1',
  'AsyncOpenAI/Python 2.8.1',
  'litellm/1.80.0',
  'OpenAI/Go 3.8.0',
  'langchain-js/1.0.4',
  'python-httpx/0.28.1',
  'curl/8.14.1',
];
const USER_AGENT_WEIGHTS = [30, 20, 16, 8, 6, 5, 4, 2];

export function buildPopulation(profile: TrafficProfile, seed: number): Population {
  const models = profile.models.map((model) => withSpeed(model, seed));
  const mixes: Mix[] = [];
  const keys: PopulationKey[] = [];
  const weightOfAll = sum(profile.organizations.map(({ weight }) => weight));
  for (const organization of profile.organizations) {
    const preferences = models.map(
      ({ id, weight }) => weight * (0.02 + draw(seed, 'favour', organization.id, id) ** 4 * 3),
    );
    const areByok = models.map(({ id, byokShare }) => draw(seed, 'byok', organization.id, id) < byokShare);
    const ownMix = mixes.push({ ...aliasTable(preferences), areByok }) - 1;
    const weightOfKeys = sum(organization.keys.map(({ weight }) => weight));
    for (const key of organization.keys) {
      const only = key.models;
      const mix = only
        ? mixes.push({
            ...aliasTable(
              preferences.map((weight, index) => (only.includes(models[index]?.id ?? '') ? weight : 0)),
            ),
            areByok,
          }) - 1
        : ownMix;
      const share = (organization.weight / weightOfAll) * (key.weight / weightOfKeys);
      keys.push({ ...key, ...drawHabits(key, seed), organizationId: organization.id, share, mix });
    }
  }
  return { keys, models, mixes };
}

function drawHabits({ id }: TrafficKey, seed: number) {
  const pick = <T>(of: string, things: readonly T[]): T =>
    things[Math.floor(draw(seed, of, id) * things.length)] as T;
  const use = pick('use', USES);
  return {
    ...use,
    promptMedian: use.promptMedian * (0.6 + 0.9 * draw(seed, 'prompt', id)),
    outputMedian: use.outputMedian * (0.6 + 0.9 * draw(seed, 'output', id)),
    team: pick('team', TEAMS),
    userAgent: userAgentOf(draw(seed, 'agent', id)),
    labelledShare: draw(seed, 'labels', id) < 0.75 ? 0.9 : 0.1,
  };
}

function userAgentOf(chance: number): string {
  let left = chance * sum(USER_AGENT_WEIGHTS);
  const index = USER_AGENT_WEIGHTS.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return USER_AGENTS[index] ?? 'curl/8.14.1';
}

// A model with a higher price is usually larger and slower. Above this many powers of ten over 50 PKR per million the
// price no longer matters, so that durations stay positive and finite.
const MAX_SIZE = 2.4;

function withSpeed(model: TrafficModel, seed: number): PopulationModel {
  const pkr = Number(model.outputMicroPkrPerMillion) / 1e6;
  const size = Math.min(Math.log10(Math.max(pkr, 50) / 50), MAX_SIZE);
  const luck = 0.75 + 0.5 * draw(seed, 'speed', model.id);
  return {
    ...model,
    firstTokenMs: model.firstTokenMs ?? (190 + 230 * size) * luck,
    tokensPerSecond: model.tokensPerSecond ?? (190 - 68 * size) / luck,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
