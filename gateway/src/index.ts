export type { Clock, Timers } from './clock.ts';
export { createGateway, type Gateway, type GatewayDeps } from './gateway.ts';
export {
  finishRequest,
  type Journal,
  JournalCopy,
  openJournal,
  type Settlement,
  settle,
  telemetryFor,
} from './journal/index.ts';
export type { Settings } from './pipeline/parts.ts';
export { canServe } from './protocols/served.ts';
