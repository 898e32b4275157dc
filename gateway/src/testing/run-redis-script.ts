import { lauxlib, lua, lualib, to_luastring } from 'fengari';

/** The answer of a command, and the value that a script sees of it. */
export type RedisValue = string | number | null | RedisValue[];

/** The error that a client gets, with its code first. */
export class CommandError extends Error {}

export type RedisCommands = Record<string, (...given: string[]) => RedisValue>;

/** Runs a script as EVAL does; `given` is the number of keys, the keys and the other arguments. */
export function runRedisScript(source: string, given: string[], commands: RedisCommands): RedisValue {
  const count = Number(given[0]);
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  const setTable = (name: string, values: string[]) => {
    push(state, values);
    lua.lua_setglobal(state, to_luastring(name));
  };
  setTable('KEYS', given.slice(1, 1 + count));
  setTable('ARGV', given.slice(1 + count));
  lua.lua_createtable(state, 0, 1);
  lua.lua_pushcfunction(state, (inner: object) => {
    const [name = '', ...words] = Array.from({ length: lua.lua_gettop(inner) }, (_, index) =>
      String(lua.lua_tojsstring(inner, index + 1)),
    );
    const run = commands[name.toLowerCase()];
    if (!run) throw new CommandError(`ERR unknown command '${name}' from a script`);
    push(inner, run(...words));
    return 1;
  });
  lua.lua_setfield(state, -2, to_luastring('call'));
  lua.lua_setglobal(state, to_luastring('redis'));
  if (lauxlib.luaL_dostring(state, to_luastring(source)) !== lua.LUA_OK)
    throw new CommandError(`ERR ${lua.lua_tojsstring(state, -1)}`);
  return pull(state, -1);
}

function push(state: object, value: RedisValue): void {
  // Where Redis has nothing, a script gets false.
  if (value === null) lua.lua_pushboolean(state, false);
  else if (typeof value === 'number') lua.lua_pushnumber(state, value);
  else if (typeof value === 'string') lua.lua_pushstring(state, to_luastring(value));
  else {
    lua.lua_createtable(state, value.length, 0);
    value.forEach((one, index) => {
      push(state, one);
      lua.lua_rawseti(state, -2, index + 1);
    });
  }
}

function pull(state: object, index: number): RedisValue {
  if (lua.lua_type(state, index) === lua.LUA_TNUMBER) return lua.lua_tonumber(state, index);
  if (lua.lua_type(state, index) !== lua.LUA_TTABLE) return lua.lua_tojsstring(state, index);
  return Array.from({ length: lua.lua_rawlen(state, index) }, (_, position) => {
    lua.lua_rawgeti(state, index, position + 1);
    const value = pull(state, -1);
    lua.lua_pop(state, 1);
    return value;
  });
}
