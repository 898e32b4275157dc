import { gatewayOpenApiDocument } from '@gatehouse/contract';
import { sendWhole } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';

const HEADERS = { 'content-type': 'application/json; charset=utf-8' };

// Made for the first caller, and then the same for all.
let bytes: Buffer | undefined;

/** `GET /v1/openapi.json`: the gateway's own description, for anyone. */
export async function showDescription(exchange: Exchange): Promise<void> {
  bytes ??= Buffer.from(JSON.stringify(gatewayOpenApiDocument()));
  sendWhole(exchange, 200, HEADERS, bytes, {});
}
