export { type BenchProfileOptions, makeBenchProfile } from './bench-profile.ts';
export { type FillOptions, fillRequestLog } from './fill-request-log.ts';
export {
  type TrafficKey,
  type TrafficModel,
  type TrafficOrganization,
  type TrafficProfile,
  zipf,
} from './traffic-profile.ts';
