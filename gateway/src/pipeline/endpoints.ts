import type { Surface } from '@gatehouse/contract';
import { authenticate } from '../steps/authenticate.ts';
import { checkBody } from '../steps/check-body.ts';
import { checkDenied } from '../steps/check-denied.ts';
import { checkDisk } from '../steps/check-disk.ts';
import { checkEndpoint } from '../steps/check-endpoint.ts';
import { checkExpiry } from '../steps/check-expiry.ts';
import { checkModel } from '../steps/check-model.ts';
import { checkRate } from '../steps/check-rate.ts';
import { checkReservation } from '../steps/check-reservation.ts';
import { countPrompt } from '../steps/count-prompt.ts';
import { dispatch } from '../steps/dispatch.ts';
import { findApiKey } from '../steps/find-api-key.ts';
import { findRoute } from '../steps/find-route.ts';
import { findUpstream } from '../steps/find-upstream.ts';
import { listModels } from '../steps/list-models.ts';
import { prepare } from '../steps/prepare.ts';
import { readBody } from '../steps/read-body.ts';
import { readModel } from '../steps/read-model.ts';
import { reserveCredit } from '../steps/reserve-credit.ts';
import { takeRate } from '../steps/take-rate.ts';
import type { Context, Operation } from './context.ts';
import { StepTable } from './step-table.ts';

/** What the steps of every column begin with. The endpoint is chat where a request has no body. */
type Start = Pick<Context, 'endpoint'>;

const MODEL = 'model call';
const COUNT = 'token count';
const LIST = 'models';

/** Steps down, kinds of endpoints across. Each step runs for the kinds of its row, after the steps above it. */
export const STEPS = StepTable.begin<{ [MODEL]: Start; [COUNT]: Start; [LIST]: Start }>()
  .row(checkDisk, MODEL, COUNT)
  .row(authenticate, MODEL, COUNT, LIST)
  .row(checkExpiry, MODEL, COUNT, LIST)
  .row(takeRate, MODEL, COUNT, LIST)
  .row(checkRate, MODEL, COUNT, LIST)
  .row(readBody, MODEL, COUNT)
  .row(readModel, MODEL, COUNT)
  .row(checkBody, MODEL, COUNT)
  .row(findRoute, MODEL, COUNT)
  .row(checkModel, MODEL, COUNT)
  .row(checkEndpoint, MODEL, COUNT)
  .row(findUpstream, MODEL)
  .row(findApiKey, MODEL)
  .row(checkDenied, MODEL)
  .row(reserveCredit, MODEL)
  .row(checkReservation, MODEL)
  .row(prepare, MODEL)
  .row(dispatch, MODEL)
  .row(countPrompt, COUNT)
  .row(listModels, LIST);

/** An endpoint whose requests go through the steps of its column. */
export interface ModelEndpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: Operation;
  readonly column: typeof MODEL | typeof COUNT | typeof LIST;
  readonly endpoint: Surface;
  /** Whether its requests have an entry in the request log. */
  readonly isRecorded: boolean;
  /** Whether its requests never cost anything; the others are metered. */
  readonly isFree: boolean;
}

export const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [
  post('/v1/chat/completions', 'createChatCompletion', 'chat'),
  post('/v1/completions', 'createCompletion', 'completions'),
  post('/v1/embeddings', 'createEmbedding', 'embeddings'),
  post('/v1/responses', 'createResponse', 'responses'),
  post('/v1/messages', 'createMessage', 'messages'),
  {
    ...post('/v1/messages/count_tokens', 'countMessageTokens', 'count_tokens'),
    column: COUNT,
    isFree: true,
  },
  {
    method: 'GET',
    path: '/v1/models',
    operation: 'listModels',
    column: LIST,
    endpoint: 'chat',
    isRecorded: false,
    isFree: true,
  },
];

function post(path: string, operation: Operation, endpoint: Surface): ModelEndpoint {
  return { method: 'POST', path, operation, column: MODEL, endpoint, isRecorded: true, isFree: false };
}
