import type { Call } from '../protocol.ts';
import type { RequestFacts } from '../request-facts.ts';
import { splice } from '../splice.ts';
import { ChatUsage } from './chat-answer.ts';
import { upstreamEdits } from './chat-layout.ts';
import { ChatStream } from './chat-stream.ts';

/** The call that a body is, by what was read from it. */
export function chatCall(facts: RequestFacts, callersBody: Buffer): Call {
  const { isStream, choices, outputCap, promptTokens, uncountableParts, members, toolTypes } = facts;
  const { layout, showsUsage } = facts;
  let body: Buffer | undefined = callersBody;
  return {
    isStream,
    choices,
    outputCap,
    promptTokens,
    uncountableParts,
    members,
    toolTypes,
    upstreamBody(upstreamModel, cap, outputLimit) {
      if (!body) throw new Error('the body was handed over before');
      const upstream = splice(body, upstreamEdits(layout, upstreamModel, cap, outputLimit));
      body = undefined;
      return upstream;
    },
    openStream: (redaction) => new ChatStream({ showsUsage, choices, redaction }),
    openUsage: () => new ChatUsage(),
  };
}
