// The part of the Lua in JavaScript that the fake Redis uses; the package has no types.
declare module 'fengari' {
  type State = object;
  export function to_luastring(text: string): Uint8Array;
  export const lua: {
    readonly LUA_OK: number;
    readonly LUA_TNUMBER: number;
    readonly LUA_TTABLE: number;
    lua_createtable(state: State, items: number, members: number): void;
    lua_gettop(state: State): number;
    lua_pop(state: State, count: number): void;
    lua_pushboolean(state: State, value: boolean): void;
    lua_pushcfunction(state: State, run: (state: State) => number): void;
    lua_pushnumber(state: State, value: number): void;
    lua_pushstring(state: State, value: Uint8Array): void;
    lua_rawgeti(state: State, index: number, position: number): void;
    lua_rawlen(state: State, index: number): number;
    lua_rawseti(state: State, index: number, position: number): void;
    lua_setfield(state: State, index: number, name: Uint8Array): void;
    lua_setglobal(state: State, name: Uint8Array): void;
    lua_tojsstring(state: State, index: number): string;
    lua_tonumber(state: State, index: number): number;
    lua_type(state: State, index: number): number;
  };
  export const lauxlib: {
    luaL_newstate(): State;
    luaL_dostring(state: State, source: Uint8Array): number;
  };
  export const lualib: { luaL_openlibs(state: State): void };
}
