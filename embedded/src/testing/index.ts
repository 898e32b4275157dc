export { prepareNativeBinaries } from '../postgres/native-binaries.ts';
export {
  isRunning,
  openTestEngine,
  removeDirectory,
  type TestEngine,
  type TestEngineDatabase,
  useTestEngine,
  waitFor,
} from './test-engine.ts';
