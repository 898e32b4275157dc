import type { Surface } from '@gatehouse/contract';
import type { Context, Operation } from '../context/context.ts';
import { listModelInfo } from '../discovery/list-model-info.ts';
import { listModels } from '../discovery/list-models.ts';
import { showKey } from '../discovery/show-key.ts';
import { showModel } from '../discovery/show-model.ts';
import { authenticate } from '../steps/authenticate.ts';
import { checkDenied } from '../steps/check-denied.ts';
import { checkDisk } from '../steps/check-disk.ts';
import { checkEndpoint } from '../steps/check-endpoint.ts';
import { checkExpiry } from '../steps/check-expiry.ts';
import { chooseCapacity } from '../steps/choose-capacity.ts';
import { countPrompt } from '../steps/count-prompt.ts';
import { dispatch } from '../steps/dispatch.ts';
import { findRoute } from '../steps/find-route.ts';
import { plan } from '../steps/plan.ts';
import { readBody } from '../steps/read-body.ts';
import { readModel } from '../steps/read-model.ts';
import { reserveCredit } from '../steps/reserve-credit.ts';
import { takeRate } from '../steps/take-rate.ts';
import { translate } from '../steps/translate.ts';
import { StepTable } from './step-table.ts';

/** The facts that the steps of every column begin with. The endpoint is chat where a request has no body. */
type Start = Pick<Context, 'endpoint' | 'mayPresume' | 'countedRate'>;

const MODEL = 'model call';
const COUNT = 'token count';
const LIST = 'models';
const SHOW = 'model';
const INFO = 'model info';
const KEY = 'key';
type Column = typeof MODEL | typeof COUNT | typeof LIST | typeof SHOW | typeof INFO | typeof KEY;

/** Steps down, kinds of endpoints across. Each step runs for the kinds of its row, after the steps above it. */
export const STEPS = StepTable.begin<Record<Column, Start>>()
  .row(checkDisk, MODEL, COUNT)
  .row(authenticate, MODEL, COUNT, LIST, SHOW, INFO, KEY)
  .row(checkExpiry, MODEL, COUNT, LIST, SHOW, INFO, KEY)
  .row(takeRate, MODEL, COUNT, LIST, SHOW, INFO, KEY)
  .row(readBody, MODEL, COUNT)
  .row(readModel, MODEL, COUNT)
  .row(findRoute, MODEL, COUNT)
  .row(checkEndpoint, MODEL, COUNT)
  .row(chooseCapacity, MODEL, COUNT)
  .row(plan, MODEL)
  .row(translate, MODEL)
  .row(checkDenied, MODEL)
  .row(reserveCredit, MODEL)
  .row(dispatch, MODEL)
  .row(countPrompt, COUNT)
  .row(listModels, LIST)
  .row(showModel, SHOW)
  .row(listModelInfo, INFO)
  .row(showKey, KEY);

/** An endpoint whose requests go through the steps of its column. */
export interface ModelEndpoint {
  readonly method: 'GET' | 'POST';
  /** `{id}` at its end stands for the rest of a path. */
  readonly path: string;
  readonly operation: Operation;
  readonly column: Column;
  readonly endpoint: Surface;
  /** True if its requests have an entry in the request log. */
  readonly isRecorded: boolean;
  /** True if its requests never cost anything; the others are metered. */
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
  get('/v1/models', 'listModels', LIST),
  get('/v1/models/{id}', 'showModel', SHOW),
  get('/v1/model/info', 'listModelInfo', INFO),
  get('/v1/key', 'showKey', KEY),
];

function post(path: string, operation: Operation, endpoint: Surface): ModelEndpoint {
  return { method: 'POST', path, operation, column: MODEL, endpoint, isRecorded: true, isFree: false };
}

/** Tells a caller about the gateway. Nothing is asked of a provider. */
function get(path: string, operation: Operation, column: Column): ModelEndpoint {
  return { method: 'GET', path, operation, column, endpoint: 'chat', isRecorded: false, isFree: true };
}
