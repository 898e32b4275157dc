import { byokReservationMicroPkr, reservationMicroPkr } from '../costs.ts';
import type { Exchange } from '../exchange.ts';
import type { Parts } from '../parts.ts';
import type { Call } from '../protocols/protocol.ts';
import type { GatewayKey, Route } from '../queries.ts';
import {
  budgetExhausted,
  invalidApiKey,
  keyCreditExhausted,
  keyExpired,
  serviceUnavailable,
} from '../refusal.ts';

// A request is let through only when the worst it can cost is free on its key and in its organisation, and that
// much is set aside until it is settled. The worst is the prompt as counted here and every choice as long as it
// may become, so the limit it is priced by is also sent to the provider.

// Beyond the route's timeout: time to settle. After that the hold counts as abandoned.
const SETTLING_MS = 60_000;

/** 402 when the credit does not suffice, 401 when the key ended meanwhile. Returns the output limit to send. */
export async function reserveCredit(
  exchange: Exchange,
  key: GatewayKey,
  route: Route,
  call: Call,
  { admissions }: Pick<Parts, 'admissions'>,
): Promise<number> {
  const { promptTokens } = call;
  exchange.promptTokens = promptTokens;
  const outputCap = outputCapOf(call, route);
  const worst = exchange.isByok ? byokReservationMicroPkr : reservationMicroPkr;
  const amountMicroPkr = worst(route, promptTokens, outputCap, call.choices);
  exchange.throwIfStopped();

  // In doubt (no answer came) it stays so: the journal then looks for a hold to release.
  exchange.isHeld = true;
  const { verdict, availableMicroPkr } = await admissions.admit(key.organizationId, {
    requestId: exchange.id,
    keyId: key.id,
    amountMicroPkr,
    isByok: exchange.isByok,
    holdMs: route.timeoutMs + SETTLING_MS,
  });
  if (verdict === 'admitted') {
    exchange.outputCap = outputCap;
    exchange.choices = call.choices;
    exchange.heldMicroPkr = amountMicroPkr;
    return outputCap;
  }
  exchange.isHeld = false;
  switch (verdict) {
    case 'revoked':
      throw invalidApiKey();
    case 'expired':
      throw keyExpired();
    case 'key_credit_exhausted':
      throw keyCreditExhausted(amountMicroPkr, availableMicroPkr ?? 0n);
    case 'budget_exhausted':
      throw budgetExhausted();
    case 'id_is_closed':
      // The id says when it was made, by this machine's clock, and the ledger has closed that time long ago.
      exchange.remark = "this machine's clock is months behind the database's";
      throw serviceUnavailable();
  }
}

/** The caller's limit or the route's, whichever is lower. */
function outputCapOf(call: Call, route: Route): number {
  const most =
    route.maxOutputTokens > BigInt(Number.MAX_SAFE_INTEGER)
      ? Number.MAX_SAFE_INTEGER
      : Number(route.maxOutputTokens);
  return Math.min(call.outputCap ?? most, most);
}
