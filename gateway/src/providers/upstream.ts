import type { UpstreamHeaders } from '../wire/headers.ts';

/** One request to a provider, ready to go out. */
export interface UpstreamRequest {
  /** The organisation whose request it is: whose share of this process an answer takes that is made here. */
  readonly owner: string;
  /** Follows the provider's base URL. */
  readonly path: string;
  /** Added to the address, by name; not yet encoded. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The caller's own limit stands; this one only keeps a connection from being waited on for ever. */
  readonly timeoutMs: number;
  /** Called once the body is on its way and no memory here holds it; it may never be, when the request fails. */
  readonly onBodySent: () => void;
}

/** Told of an answer as it comes: started, head, data..., then ended or failed. Nothing after either. */
export interface UpstreamListener {
  /** The request is about to be put on the wire: from here on the provider may have seen it. */
  onStart(): void;
  onHead(status: number, headers: UpstreamHeaders): void;
  /** The bytes are the listener's from the next microtask on. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(error: Error): void;
}

/** A request under way. */
export interface UpstreamCall {
  /** No more data until resumed, save what is already on its way. */
  pause(): void;
  resume(): void;
  /** Ends it. The listener hears nothing more, or one failure. */
  abort(): void;
}

/** Somewhere that answers, over the network or in this process. */
export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
}
