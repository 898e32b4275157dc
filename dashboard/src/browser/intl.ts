// What a browser says of its zone and language may be nothing that its own `Intl` takes: `Etc/Unknown`, the zone of a machine with
// another TZ than a name of the IANA; `C` or `en-US@posix`, the language of a program that was given a POSIX locale. Libraries
// hand it to `Intl` when they load, so this module is loaded first and corrects what they are going to meet.

/** The language that the page is written in. */
export const PAGE_LANGUAGE = 'en-GB';

export interface Zone {
  /** An IANA name that `Intl` takes. */
  readonly name: string;
  /** The name that the browser gave instead, where there is no such zone. */
  readonly unknown?: string;
}

/** The zone of a name that a browser gave. */
export function zoneOf(named: unknown): Zone {
  if (typeof named !== 'string' || named === '') return { name: 'UTC', unknown: '' };
  try {
    new Intl.DateTimeFormat(PAGE_LANGUAGE, { timeZone: named });
    return { name: named };
  } catch {
    return { name: 'UTC', unknown: named };
  }
}

/** The languages that a formatter is asked for, if it takes them; otherwise the one of the page. */
export function acceptedLocales(locales: unknown): unknown {
  try {
    Intl.getCanonicalLocales(locales as string | undefined);
    return locales;
  } catch {
    return PAGE_LANGUAGE;
  }
}

function namedZone(): unknown {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The zone of the viewer. Days are counted in it, and the API receives its name as `time_zone`. */
export const browserZone: Zone = zoneOf(namedZone());

/** Libraries format in the zone that `Intl` reports. */
function correctZone(): void {
  const formats = Intl.DateTimeFormat.prototype;
  const { resolvedOptions } = formats;
  formats.resolvedOptions = function corrected(): Intl.ResolvedDateTimeFormatOptions {
    const options = resolvedOptions.call(this);
    return { ...options, timeZone: zoneOf(options.timeZone).name };
  };
}

/** Libraries format in the language that the browser reports. An extension may have made that property read-only; `Intl` is not. */
function correctLanguage(): void {
  const formatters = Intl as unknown as Record<string, new (...options: unknown[]) => object>;
  for (const name of ['Collator', 'DateTimeFormat', 'ListFormat', 'NumberFormat', 'PluralRules']) {
    const formatter = formatters[name];
    if (formatter === undefined) continue;
    formatters[name] = new Proxy(formatter, {
      apply: (target, _, [locales, ...options]) => new target(acceptedLocales(locales), ...options),
      construct: (target, [locales, ...options], newTarget) =>
        Reflect.construct(target, [acceptedLocales(locales), ...options], newTarget),
    });
  }
}

if (browserZone.unknown !== undefined) correctZone();
if (acceptedLocales(globalThis.navigator?.language) !== globalThis.navigator?.language) correctLanguage();
