import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from '../upstream.ts';

type Headers = Readonly<Record<string, string>>;

/** An upstream whose requests go out with headers that may take a moment to make. */
export class CloudUpstream implements Upstream {
  readonly #upstream: Upstream;
  readonly #headersOf: (request: UpstreamRequest) => Headers | Promise<Headers>;

  constructor(upstream: Upstream, headersOf: (request: UpstreamRequest) => Headers | Promise<Headers>) {
    this.#upstream = upstream;
    this.#headersOf = headersOf;
  }

  #headersFor(request: UpstreamRequest): Headers | Promise<Headers> {
    try {
      return this.#headersOf(request);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const headers = this.#headersFor(request);
    if (!(headers instanceof Promise)) return this.#upstream.send({ ...request, headers }, listener);
    const call = new LaterCall();
    headers.then(
      (made) => call.begin(() => this.#upstream.send({ ...request, headers: made }, listener)),
      (error) => call.fail(() => listener.onFailure(error)),
    );
    return call;
  }
}

/** A call that begins later, as it was left meanwhile: paused, or not at all. */
class LaterCall implements UpstreamCall {
  #call: UpstreamCall | undefined;
  #isPaused = false;
  #isAborted = false;

  begin(send: () => UpstreamCall): void {
    if (this.#isAborted) return;
    this.#call = send();
    if (this.#isPaused) this.#call.pause();
  }

  fail(tell: () => void): void {
    if (!this.#isAborted) tell();
  }

  pause(): void {
    this.#isPaused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#call?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#call?.abort();
  }
}
