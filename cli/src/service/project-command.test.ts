import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { dataCommand, PROJECT, serviceCommand } from './project-command.ts';

describe('a printed command', () => {
  const here = (environment: Record<string, string>) => ({ environment, workingDirectory: PROJECT });

  it('is the plain one in the project folder with no settings', () => {
    assert.equal(serviceCommand('npm start', here({ OPENAI_API_KEY: 'x', PORT: ' ' })), 'npm start');
    assert.equal(dataCommand('npx gatehouse org list', here({ PORT: '9000' })), 'npx gatehouse org list');
  });

  it('has the settings of this process, paths as absolute ones', () => {
    const environment = { DATA_DIR: './look', PORT: '9000', GATEWAY_PORT: '9001', DATABASE_URL: 'secret' };
    assert.equal(
      serviceCommand(
        'npm start',
        here({ ...environment, TLS_CERT: 'c.pem', TLS_KEY: '/k.pem', DASHBOARD: 'off' }),
      ),
      `DATA_DIR=${PROJECT}/look PORT=9000 GATEWAY_PORT=9001 TLS_CERT=${PROJECT}/c.pem TLS_KEY=/k.pem DASHBOARD=off npm start`,
    );
    assert.equal(dataCommand('npx x', here(environment)), `DATA_DIR=${PROJECT}/look npx x`);
  });

  it('enters the project folder, and names the data directory of this one', () => {
    assert.equal(
      dataCommand('npx x', { environment: {}, workingDirectory: '/elsewhere' }),
      `cd ${PROJECT} && DATA_DIR=/elsewhere/data npx x`,
    );
    assert.equal(
      dataCommand('npx x', { environment: { DATA_DIR: '/srv/data' }, workingDirectory: '/elsewhere' }),
      `cd ${PROJECT} && DATA_DIR=/srv/data npx x`,
    );
  });

  it('has what HOST requires if other machines can reach it', () => {
    const chosen = { JOIN_POLICY: 'closed', SIGNUP_CREDIT_PKR: '0', TRUSTED_PROXY_HOPS: '0' };
    assert.equal(
      serviceCommand('npm start', here({ ...chosen, HOST: '0.0.0.0' })),
      'HOST=0.0.0.0 JOIN_POLICY=closed SIGNUP_CREDIT_PKR=0 TRUSTED_PROXY_HOPS=0 npm start',
    );
    assert.equal(serviceCommand('npm start', here({ ...chosen, HOST: '::1' })), 'HOST=::1 npm start');
  });

  it('is quoted for a shell', () => {
    const directory = "/tmp/o'brien $HOME; data";
    const command = dataCommand('printenv DATA_DIR', {
      environment: { DATA_DIR: directory },
      workingDirectory: '/',
    });
    assert.equal(execFileSync('sh', ['-c', command], { encoding: 'utf8' }), `${directory}\n`);
  });
});
