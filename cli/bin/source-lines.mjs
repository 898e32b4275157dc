// Part of the program (program.mjs) only: the stack of an error names the lines of the sources. Node does that too when it is told to, but
// reads every source map as a file is loaded, and keeps it: 19 MB over the two processes. Here a map is read when a stack needs it.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const PLACE = /(file:\/\/[^\s()]+\/cli\/dist\/[^\s()]+\.mjs):(\d+):(\d+)/;
const maps = new Map();

function mapOf(url) {
  if (!maps.has(url))
    maps.set(url, new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8'))));
  return maps.get(url);
}

function inSource(site) {
  return site.replace(PLACE, (place, url, line, column) => {
    try {
      const { originalSource, originalLine, originalColumn } = mapOf(url).findEntry(line - 1, column - 1);
      // The bundler's own helpers have none.
      if (originalSource === undefined) return place;
      return `${new URL(originalSource, url)}:${originalLine + 1}:${originalColumn + 1}`;
    } catch {
      return place;
    }
  });
}

function inWords(error) {
  try {
    return `${error}`;
  } catch {
    // A library may capture the stack of an object that has no text.
    return 'Error';
  }
}

Error.prepareStackTrace = (error, sites) =>
  [inWords(error), ...sites.map((site) => `    at ${inSource(`${site}`)}`)].join('\n');
