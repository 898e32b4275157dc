export { type BenchWorldOptions, makeBenchWorld } from './bench-world.ts';
export { type FillOptions, fillRequestLog } from './fill-request-log.ts';
export {
  type TrafficKey,
  type TrafficModel,
  type TrafficOrganization,
  type TrafficWorld,
  zipf,
} from './traffic-world.ts';
