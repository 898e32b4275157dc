import { MAX_CONSECUTIVE, REJECTED_MS, reasonOf } from './breaker.ts';
import { type Change, type Opening, OpenState } from './open-state.ts';
import { OutcomeWindow } from './outcome-window.ts';
import type { Failure } from './retry.ts';

// What the requests of all organisations together show of one upstream of the platform. An organisation chooses what it sends, so
// most failures that it meets may be its own doing: a prompt that a provider moderates, one that exceeds a limit, one that
// makes the provider fail. They open the organisation's own breaker (breaker.ts) and, for all, only what two have met:
//
//   the upstream is open for two organisations for the same reason     as long as for both of them
//   five failures in a row, or half of those within half a minute,     1 s, then twice as long each further time
//   and of the failures of the organisations that failed less often
//   at least half too
//   no connection can be made: nothing that was sent caused it         at once, as above
//   401: it is about the credential                                    at once, for 1 s; if the next organisation's request
//                                                                      meets the same, the first row applies
//
// Half open, two organisations may try at once, so that one whose request takes long does not keep the others waiting. The
// first success closes it. It opens again when the requests of two organisations have failed.

/** Organisations whose failures are remembered, for each upstream. */
const MAX_WITNESSES = 16;
const MAX_PROBES = 2;

/** An organisation that met failures. */
interface Witness {
  /** The failures of the present half minute. */
  failures: number;
  outcomes: number;
  /** The opening of its own breaker. */
  opening: Opening | undefined;
}

/** An outcome of an organisation's request. */
export interface Observation {
  readonly organizationId: string;
  /** The opening of the organisation's own breaker, after the outcome. */
  readonly opening: Opening | undefined;
  readonly sentMs: number;
  readonly nowMs: number;
}

export class SharedBreaker {
  readonly #state = new OpenState();
  readonly #window = new OutcomeWindow();
  readonly #witnesses = new Map<string, Witness>();
  readonly #probing: string[] = [];
  #consecutive = 0;
  /** Whose failures those in a row are; null where they are of several. */
  #consecutiveOf: string | null = null;
  /** Whose request failed since it has become half open. */
  #failedProbeOf: string | undefined;
  /** From when on one organisation's 401 opens it again. */
  #next401Ms = 0;

  /** For all organisations. */
  get opening(): Opening | undefined {
    return this.#state.opening;
  }

  /** The one that lasts longest, of the organisations' own, and how many there are. */
  get ofSome(): { readonly opening: Opening; readonly organizations: number } | undefined {
    let longest: Opening | undefined;
    let organizations = 0;
    for (const { opening } of this.#witnesses.values()) {
      if (!opening) continue;
      organizations += 1;
      if (!longest || opening.untilMs > longest.untilMs) longest = opening;
    }
    return longest && { opening: longest, organizations };
  }

  isForgettable(nowMs: number): boolean {
    return !this.opening && !this.ofSome && this.#window.isQuiet(nowMs) && nowMs >= this.#next401Ms;
  }

  /** When the organisation may use it, as far as time alone decides. Infinite while others try it out. */
  readyAtMs(organizationId: string): number {
    if (!this.opening) return 0;
    const mayProbe = this.#probing.length < MAX_PROBES && !this.#probing.includes(organizationId);
    return mayProbe ? this.opening.untilMs : Number.POSITIVE_INFINITY;
  }

  /** True if a request may be sent now. A probe must end with `endProbe`. */
  take(organizationId: string, nowMs: number): 'closed' | 'probe' | undefined {
    if (!this.opening) return 'closed';
    if (this.readyAtMs(organizationId) > nowMs) return undefined;
    this.#probing.push(organizationId);
    return 'probe';
  }

  endProbe(organizationId: string): void {
    const at = this.#probing.indexOf(organizationId);
    if (at >= 0) this.#probing.splice(at, 1);
  }

  succeed({ organizationId, opening, sentMs, nowMs }: Observation): Change {
    this.#turn(nowMs);
    this.#window.count(false);
    this.#consecutive = 0;
    const witness = this.#witnesses.get(organizationId);
    if (witness) {
      witness.outcomes += 1;
      witness.opening = opening;
    }
    if (!this.opening || !this.#state.isAbout(sentMs)) return undefined;
    this.#state.close();
    this.#window.clear();
    this.#clearTallies();
    this.#failedProbeOf = undefined;
    return 'closed';
  }

  fail(failure: Failure, observation: Observation): Change {
    const { nowMs } = observation;
    this.#turn(nowMs);
    this.#count(observation);
    const agreed = this.#agreed(observation);
    const agreedMs = agreed ? agreed.untilMs - nowMs : 0;
    const judgedMs = this.#isJudged(failure, observation) ? this.#state.backoffMs : 0;
    const ms = Math.max(agreedMs, judgedMs);
    if (ms === 0) return undefined;
    const isStated = agreed?.isStated === true && agreedMs >= judgedMs;
    // What the provider says counts more than what is only likely.
    if (!isStated && this.opening?.isStated && this.#state.isOpen(nowMs)) return undefined;
    this.#failedProbeOf = undefined;
    return this.#state.open(ms, isStated, reasonOf(failure), nowMs);
  }

  /** How long it is open both for this organisation and for another that met the same. */
  #agreed({ organizationId, opening, nowMs }: Observation): Opening | undefined {
    if (!opening || opening.untilMs <= nowMs) return undefined;
    let longest: Opening | undefined;
    for (const [witnessId, { opening: other }] of this.#witnesses) {
      if (witnessId === organizationId || !other || other.untilMs <= nowMs) continue;
      if (other.reason !== opening.reason) continue;
      if (!longest || other.untilMs > longest.untilMs) longest = other;
    }
    if (!longest) return undefined;
    const untilMs = Math.min(longest.untilMs, opening.untilMs);
    return { untilMs, isStated: longest.isStated && opening.isStated, reason: opening.reason };
  }

  #isJudged(failure: Failure, { organizationId, sentMs, nowMs }: Observation): boolean {
    // Others that were under way when it opened, or that had no other choice.
    if (!this.#state.isAbout(sentMs) || this.#state.isOpen(nowMs)) return false;
    if (failure.kind === 'unreachable') return true;
    if (failure.kind === 'error_status' && failure.status === 401 && nowMs >= this.#next401Ms) {
      this.#next401Ms = nowMs + REJECTED_MS;
      return true;
    }
    if (!this.opening) return this.#isTooMany();
    this.#failedProbeOf ??= organizationId;
    return this.#failedProbeOf !== organizationId;
  }

  #isTooMany(): boolean {
    if (this.#consecutive >= MAX_CONSECUTIVE && this.#consecutiveOf === null) return true;
    return this.#window.hasTooMany() && this.#window.hasTooManyWithout(this.#mostFailed());
  }

  #mostFailed(): Pick<Witness, 'failures' | 'outcomes'> {
    let most = { failures: 0, outcomes: 0 };
    for (const witness of this.#witnesses.values()) if (witness.failures > most.failures) most = witness;
    return most;
  }

  #count({ organizationId, opening }: Observation): void {
    this.#window.count(true);
    this.#consecutive += 1;
    if (this.#consecutive === 1) this.#consecutiveOf = organizationId;
    else if (this.#consecutiveOf !== organizationId) this.#consecutiveOf = null;
    const { failures, outcomes } = this.#witnesses.get(organizationId) ?? { failures: 0, outcomes: 0 };
    // The last that failed comes last.
    this.#witnesses.delete(organizationId);
    this.#witnesses.set(organizationId, { failures: failures + 1, outcomes: outcomes + 1, opening });
    if (this.#witnesses.size <= MAX_WITNESSES) return;
    for (const oldest of this.#witnesses.keys()) {
      this.#witnesses.delete(oldest);
      break;
    }
  }

  #turn(nowMs: number): void {
    if (this.#window.turn(nowMs)) this.#clearTallies();
  }

  #clearTallies(): void {
    for (const [organizationId, witness] of this.#witnesses) {
      witness.failures = 0;
      witness.outcomes = 0;
      if (!witness.opening) this.#witnesses.delete(organizationId);
    }
  }
}
