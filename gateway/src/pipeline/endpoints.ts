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
const LIST = 'models';

/** Steps down, kinds of endpoints across. Each step runs for the kinds of its row, after the steps above it. */
export const STEPS = StepTable.begin<{ [MODEL]: Start; [LIST]: Start }>()
  .row(checkDisk, MODEL)
  .row(authenticate, MODEL, LIST)
  .row(checkExpiry, MODEL, LIST)
  .row(takeRate, MODEL, LIST)
  .row(checkRate, MODEL, LIST)
  .row(readBody, MODEL)
  .row(readModel, MODEL)
  .row(checkBody, MODEL)
  .row(findRoute, MODEL)
  .row(checkModel, MODEL)
  .row(checkEndpoint, MODEL)
  .row(findUpstream, MODEL)
  .row(findApiKey, MODEL)
  .row(checkDenied, MODEL)
  .row(reserveCredit, MODEL)
  .row(checkReservation, MODEL)
  .row(prepare, MODEL)
  .row(dispatch, MODEL)
  .row(listModels, LIST);

/** An endpoint whose requests go through the steps of its column. */
export interface ModelEndpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: Operation;
  readonly column: typeof MODEL | typeof LIST;
  readonly endpoint: Surface;
  /** Whether its requests are metered and have an entry in the request log. */
  readonly isRecorded: boolean;
}

export const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [
  post('/v1/chat/completions', 'createChatCompletion', 'chat'),
  post('/v1/completions', 'createCompletion', 'completions'),
  post('/v1/embeddings', 'createEmbedding', 'embeddings'),
  post('/v1/responses', 'createResponse', 'responses'),
  post('/v1/messages', 'createMessage', 'messages'),
  {
    method: 'GET',
    path: '/v1/models',
    operation: 'listModels',
    column: LIST,
    endpoint: 'chat',
    isRecorded: false,
  },
];

function post(path: string, operation: Operation, endpoint: Surface): ModelEndpoint {
  return { method: 'POST', path, operation, column: MODEL, endpoint, isRecorded: true };
}
