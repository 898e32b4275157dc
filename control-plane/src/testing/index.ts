export { ApiClient, type Given, type RawReply, type RawRequest } from './api-client.ts';
