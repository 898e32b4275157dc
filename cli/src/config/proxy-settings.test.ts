import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { misspeltSettings, readConfig } from './config.ts';
import { proxyOfSettings } from './proxy-settings.ts';

/** The proxy to an address, with these variables. */
function proxyTo(address: string, environment: Readonly<Record<string, string>>): string | undefined {
  return proxyOfSettings(readConfig(environment))(new URL(address))?.href;
}

describe('the proxies of the settings', () => {
  it('have their usual names, in upper or lower case, of which the lower one counts first', () => {
    const both = { HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:1', HTTP_PROXY: 'plain:2' };
    assert.equal(proxyTo('https://api.example', both), 'http://lower:1/');
    assert.equal(proxyTo('http://api.example', both), 'http://plain:2/');
    assert.equal(proxyTo('https://api.example', { HTTPS_PROXY: 'http://upper:1' }), 'http://upper:1/');
    assert.equal(
      proxyTo('https://api.example', { https_proxy: 'http://a:1', no_proxy: '.example' }),
      undefined,
    );
    assert.deepEqual(
      misspeltSettings({ https_proxy: 'a', no_proxy: 'b', FTP_PROXY: 'c', ftp_proxy: 'd' }),
      [],
    );
  });

  for (const [name, value, shown] of [
    ['HTTPS_PROXY', 'socks5://ada:pass@proxy:1080', '"socks5://…@proxy:1080"'],
    ['http_proxy', 'http://ada:pass@proxy/path', '"http://…@proxy/path"'],
    ['NO_PROXY', 'a.example,10.0.0.0/99', '"a.example,10.0.0.0/99"'],
  ] as const)
    it(`refuse ${name}=${value}, without its password`, () =>
      assert.throws(
        () => readConfig({ [name]: value }),
        ({ message }: Error) =>
          message.includes(`${name} is ${shown}, expected`) && !message.includes('pass@'),
      ));
});
