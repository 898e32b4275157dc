import type { Surface } from '@gatehouse/contract';
import type { Dialect } from '../errors/dialect.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { JsonObject } from '../wire/json.ts';
import type { Redaction } from '../wire/redaction.ts';
import type { Edit } from '../wire/splice.ts';
import type { GeneratedText } from './answer-tally.ts';
import type { BodyLayout, UpstreamTarget } from './body-layout.ts';
import type { RequestFacts } from './call.ts';
import type { MemberTable } from './member-table.ts';
import type { ParsedBody } from './parse-body.ts';
import type { StreamReading, Usage, UsageReader } from './protocol.ts';
import type { TranslatedEvents } from './translation/stream-events.ts';
import type { Translator } from './translation/translator.ts';

/**
 * A wire format: how a request is read and sent on, how an answer is understood. Pure, since large bodies are read in
 * reader threads.
 */
export interface Format {
  readonly surface: Surface;
  /** How its errors look. */
  readonly dialect: Dialect;
  readonly members: MemberTable;
  /** Reads a caller's body. Throws a BodyError that names the member which is wrong. */
  readRequest(body: ParsedBody): EndpointReading;
  /** The edits that make a caller's body the provider's (`bodyEdits`). */
  upstreamEdits(layout: BodyLayout, target: UpstreamTarget): Edit[];
  /** Reads an answer that came whole; undefined where it is none of this format. */
  readAnswer(body: Buffer): AnswerContent | undefined;
  /** Reads the usage alone out of an answer that comes whole. */
  openUsage(): UsageReader;
  /** Reads a stream. `translated` takes what it says, where its caller reads another format. */
  openStream(options: StreamOptions, translated?: TranslatedEvents): StreamReading;
  /** The events of a stream that an answer amounts to; left out where there are no streams. */
  readonly eventsOf?: (answer: JsonObject) => string;
  /** The last event of a stream that the gateway ends: why it does. Undefined where there are no events. */
  streamError(error: GatewayError, requestId: string): Buffer | undefined;
  /** True if an answer that is no stream is passed on as it comes too, because it may be too large to be kept. */
  readonly passesWhole?: true;
  /** Left out where no other format is translated into it or out of it. */
  readonly translator?: Translator;
}

export interface StreamOptions {
  /** True if the caller gets to see the usage. */
  readonly showsUsage: boolean;
  readonly choices: number;
  /** The encoding of vectors, as the caller wrote it. */
  readonly encodingFormat?: unknown;
  /** For what the caller gets to see. */
  readonly redaction?: Redaction | undefined;
}

/** The reading of a body in a format, with the texts that are still to be counted. */
export interface EndpointReading {
  readonly facts: Omit<
    RequestFacts,
    'format' | 'model' | 'members' | 'promptTokens' | 'references' | 'toolLimits'
  >;
  readonly overheadTokens: number;
  readonly texts: readonly string[];
}

/** The reading of an answer in a format. */
export interface AnswerContent {
  /** The answer; left out where the format does not parse it. */
  readonly value?: JsonObject;
  readonly usage: Usage | undefined;
  readonly hasContent: boolean;
  readonly hasReasoning: boolean;
  /** Empty where the usage says how much it was. */
  readonly generated: GeneratedText;
  /** The error inside the answer. */
  readonly upstreamError: string | null;
  /** Under which the provider may have stored it, in formats that have this. */
  readonly responseId?: string | undefined;
}
