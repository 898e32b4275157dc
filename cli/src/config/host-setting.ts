import { isIP } from 'node:net';
import { type Form, setting } from './setting.ts';

const NAME =
  /^(?=.{1,255}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;

const isHost = (text: string) => (isIP(text) > 0 && !text.includes('%')) || NAME.test(text);

/** The address that a listener binds to. `portName` is the setting of its port. */
export function hostSetting(name: string, meaning: string, portName: string) {
  const form: Form<string> = {
    expected: 'a host name or an IP address',
    fallback: '127.0.0.1',
    parse: (text) => (isHost(text) ? text : undefined),
    hint: (text) => {
      const [, host = '', port] =
        /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@]*@)?(\[[^\]]*\]|[^:/\s]+)(?::(\d+))?(?:[/?#].*)?$/i.exec(text) ??
        [];
      const bare = host.replace(/^\[(.*)\]$/, '$1');
      if (!isHost(bare)) return undefined;
      const rest = port === undefined ? '' : `, and ${portName}=${port}`;
      return `write ${name}=${bare}${rest}`;
    },
  };
  return setting(name, meaning, form);
}
