import { chat } from '../protocols/openai/chat.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { authenticate } from '../steps/authenticate.ts';
import { checkBody } from '../steps/check-body.ts';
import { checkDenied } from '../steps/check-denied.ts';
import { checkDisk } from '../steps/check-disk.ts';
import { checkExpiry } from '../steps/check-expiry.ts';
import { checkModel } from '../steps/check-model.ts';
import { checkRate } from '../steps/check-rate.ts';
import { checkReservation } from '../steps/check-reservation.ts';
import { dispatch } from '../steps/dispatch.ts';
import { findApiKey } from '../steps/find-api-key.ts';
import { findRoute } from '../steps/find-route.ts';
import { findUpstream } from '../steps/find-upstream.ts';
import { listModels } from '../steps/list-models.ts';
import { readBody } from '../steps/read-body.ts';
import { readModel } from '../steps/read-model.ts';
import { reserveCredit } from '../steps/reserve-credit.ts';
import { takeRate } from '../steps/take-rate.ts';
import type { Context } from './context.ts';
import { StepTable } from './step-table.ts';

type Start = Pick<Context, 'protocol'>;

const CHAT = 'createChatCompletion';
const MODELS = 'listModels';

/** Steps down, endpoints across. Each step runs for the endpoints of its row, after the steps above it. */
export const STEPS = StepTable.begin<{ [CHAT]: Start; [MODELS]: Start }>()
  .row(checkDisk, CHAT)
  .row(authenticate, CHAT, MODELS)
  .row(checkExpiry, CHAT, MODELS)
  .row(takeRate, CHAT, MODELS)
  .row(checkRate, CHAT, MODELS)
  .row(readBody, CHAT)
  .row(readModel, CHAT)
  .row(checkBody, CHAT)
  .row(checkModel, CHAT)
  .row(findRoute, CHAT)
  .row(findUpstream, CHAT)
  .row(findApiKey, CHAT)
  .row(checkDenied, CHAT)
  .row(reserveCredit, CHAT)
  .row(checkReservation, CHAT)
  .row(dispatch, CHAT)
  .row(listModels, MODELS);

/** An endpoint whose requests go through the steps of its column. */
export interface ModelEndpoint {
  readonly operation: typeof CHAT | typeof MODELS;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly protocol: Protocol;
  /** Whether its requests are metered and have an entry in the request log. */
  readonly isRecorded: boolean;
}

export const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [
  { operation: CHAT, method: 'POST', path: '/v1/chat/completions', protocol: chat, isRecorded: true },
  { operation: MODELS, method: 'GET', path: '/v1/models', protocol: chat, isRecorded: false },
];
