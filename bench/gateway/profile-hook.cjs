// Loaded into a process with --require: SIGUSR2 starts a CPU profile of the main thread, and the next one writes it to
// the file that the environment names.

const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');

const SAMPLING_INTERVAL_MICROS = 200;
let session;

process.on('SIGUSR2', () => {
  if (session === undefined) {
    session = new Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_MICROS });
    session.post('Profiler.start');
    return;
  }
  session.post('Profiler.stop', (_error, { profile }) => {
    writeFileSync(process.env.PROFILE_FILE ?? 'gateway.cpuprofile', JSON.stringify(profile));
  });
  session.disconnect();
  session = undefined;
});
