import type { JsonObject } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import type { AssistantPart } from './conversation.ts';

// The neutral form of an answer that comes whole. A translated request asks for one choice, so there is one.

export interface Answer {
  /** The provider's id; empty where it gave none. */
  readonly id: string;
  /** The provider's name of the model; empty where it gave none. */
  readonly model: string;
  /** When the provider made it, in seconds of Unix time; left out where it does not say. */
  readonly createdSeconds?: number;
  readonly parts: readonly AssistantPart[];
  readonly stop: Stop;
  readonly usage?: Usage;
  readonly serviceTier?: ServiceTier;
}

/** In OpenAI's words; the SDKs of strict languages take no others. */
export type ServiceTier = (typeof SERVICE_TIERS)[number];
const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority'] as const;
/** The words of Anthropic and Groq for OpenAI's default. */
const DEFAULT_TIERS: readonly unknown[] = ['standard', 'on_demand'];

/** The tier that a provider's answer states; none where OpenAI has no word for it. */
export function serviceTierOf({ service_tier: stated }: JsonObject): { readonly serviceTier?: ServiceTier } {
  const tier = SERVICE_TIERS.find((one) => one === (DEFAULT_TIERS.includes(stated) ? 'default' : stated));
  return tier === undefined ? {} : { serviceTier: tier };
}

export interface Stop {
  readonly reason: StopReason;
  /** The stop sequence of the caller that was found, where the provider says so. */
  readonly sequence?: string;
}

/**
 * Why the model stopped: it was done, it wrote a stop sequence, it reached the cap, it calls tools, its output was
 * withheld, it refused, it paused a long turn (messages), or the model's context was full.
 */
export type StopReason =
  | 'stop'
  | 'stopSequence'
  | 'length'
  | 'toolCalls'
  | 'contentFilter'
  | 'refusal'
  | 'pause'
  | 'contextWindow';

const PREFIXES = /^(?:chatcmpl-|cmpl-|gen-|msg_|resp_|req_)/;
const LONGEST = 64;

/** The provider's id of an answer (or the gateway's of the request, where it gave none) as an id of another format. */
export function answerId(prefix: string, id: string, requestId: string): string {
  const own = (id === '' ? requestId : id)
    .replace(PREFIXES, '')
    .replaceAll(/[^a-zA-Z0-9_-]/g, '')
    .slice(0, LONGEST);
  return prefix + own;
}
