export { createGateway, type Gateway, type GatewayDependencies, type Settings } from './gateway.ts';
export type { CorsOrigins } from './http/cross-origin.ts';
export { observeJournal } from './observed/observe-journal.ts';
export { openKeptRates } from './rates/kept-rates.ts';
export type { RateLimiter } from './rates/rate-limiter.ts';
export type { RedisAddress } from './rates/redis-client.ts';
