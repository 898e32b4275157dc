import { isUtf8 } from 'node:buffer';
import type { Exchange } from '../exchange.ts';
import { isJsonObject, isNestedDeeperThan, type JsonObject } from '../protocols/json.ts';
import { invalidRequest } from '../refusal.ts';

const DEEPEST = 256;

/** 400 unless the body is a JSON object that names a model. Notes the model and whether a stream is wanted. */
export function readModel(exchange: Exchange, body: Buffer): JsonObject {
  const call = parsed(body);
  if (!isJsonObject(call)) throw invalidRequest('The body must be a JSON object.');
  exchange.isStream = call['stream'] === true;
  const { model } = call;
  if (typeof model !== 'string' || model === '') throw invalidRequest('model must name a model.', 'model');
  exchange.model = model;
  return call;
}

function parsed(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalidRequest('The body must be UTF-8.');
  if (isNestedDeeperThan(body, DEEPEST)) {
    throw invalidRequest(`The body is nested deeper than ${DEEPEST} levels.`);
  }
  try {
    return JSON.parse(body.toString());
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
}
