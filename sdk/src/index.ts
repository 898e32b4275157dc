export type { Call, CallOptions } from './call.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type CurlOptions, toCurl } from './curl.ts';
export { GatehouseConnectionError, GatehouseError, GatehouseReplyError, type Issue } from './errors.ts';
export type { DownloadOptions, ExportInput, RequestExport } from './exports.ts';
export type * from './generated/index.ts';
export { type ApiRequest, type CallName, requestFor, targetOf } from './request.ts';
export { type SavedCookie, type SavedSession, Session } from './session.ts';
