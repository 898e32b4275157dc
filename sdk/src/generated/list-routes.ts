// Generated from the contract by `npm run generate`; do not edit.

import type { Call } from '../call.ts';

/** `listRoutes` takes no input. */
export type ListRoutesInput = { readonly [name: string]: never };

/** The reply of `listRoutes`. */
export interface ListRoutesReply {
  readonly routes: readonly {
    readonly id: string;
    /** Other names of the route. The allowed_models of a key take its id only. */
    readonly aliases: readonly string[];
    readonly provider: string;
    readonly active: boolean;
    readonly endpoints: readonly ('chat' | 'completions' | 'embeddings' | 'responses' | 'messages')[];
    /** In PKR. */
    readonly price_pkr_per_million: {
      /** PKR per million tokens. At least 0. */
      readonly input: number;
      /** PKR per million tokens. At least 0. */
      readonly output: number;
      /** PKR per million tokens. At least 0. */
      readonly cache_write: number;
      /** PKR per million tokens. At least 0. */
      readonly cache_read: number;
      /** PKR per million tokens that are cached for an hour. At least 0. */
      readonly cache_write_1h: number;
      /** The prices of longer prompts, ascending. The last tier that the prompt exceeds applies. */
      readonly tiers: readonly {
        readonly above_prompt_tokens: number;
        /** PKR per million tokens. At least 0. */
        readonly input: number;
        /** PKR per million tokens. At least 0. */
        readonly output: number;
        /** PKR per million tokens. At least 0. */
        readonly cache_write: number;
        /** PKR per million tokens. At least 0. */
        readonly cache_read: number;
        /** PKR per million tokens that are cached for an hour. At least 0. */
        readonly cache_write_1h: number;
      }[];
    };
    /** PKR per call of a hosted tool, by name, such as web_search. */
    readonly price_pkr_per_call: { readonly [name: string]: number };
  }[];
}

/** GET /routes: The route ids that a request can name as its model, with their prices. */
export const listRoutes = {
  name: 'listRoutes',
  method: 'GET',
  path: '/routes',
  query: [],
  headers: {},
  body: undefined,
  needsSession: true,
  setsCookies: false,
  exports: [],
  reply: ['routes'],
} as const satisfies Call;
