import type { Database } from '@gatehouse/store';
import type { Implementation } from '../http/implement.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { me } from './me.ts';
import { createPasswords } from './passwords.ts';
import { refresh } from './refresh.ts';
import { register } from './register.ts';

export { findSession } from './sessions.ts';
export { sweepExpired } from './sweep.ts';

export function authEndpoints(database: Database, settings: ControlPlaneSettings): Implementation[] {
  const passwords = createPasswords();
  return [
    register(database, passwords, settings),
    login(database, passwords, settings),
    refresh(database),
    logout(database),
    me(),
  ];
}
