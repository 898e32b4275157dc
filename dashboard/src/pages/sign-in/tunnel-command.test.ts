import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tunnelCommand } from './tunnel-command.ts';

const commandFor = (url: string) => tunnelCommand(new URL(url));

describe('tunnelCommand', () => {
  it('names the host and the port of the page', () => {
    assert.equal(commandFor('http://gh.example:8080/'), 'ssh -L 8080:127.0.0.1:8080 gh.example');
    assert.equal(commandFor('http://192.168.1.20/'), 'ssh -L 8080:127.0.0.1:80 192.168.1.20');
    assert.equal(commandFor('http://[2001:db8::1]:9000/'), 'ssh -L 8080:127.0.0.1:9000 2001:db8::1');
  });

  it('names no host that a shell or ssh would read as something else', () => {
    for (const host of ['a;reboot', '$(reboot)', '-oproxycommand', 'a`b`'])
      assert.equal(commandFor(`http://${host}:8080/`), 'ssh -L 8080:127.0.0.1:8080 the-machine');
  });
});
