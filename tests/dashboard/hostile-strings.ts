/** Texts that a name, a model, a piece of metadata or an error may hold. Each would set `hacked` if it ran as script. */
export const HOSTILE_STRINGS: readonly string[] = [
  '<img src=x onerror="globalThis.hacked=1">',
  '"><script>globalThis.hacked=1</script><a href="',
  "' onmouseover=globalThis.hacked=1 autofocus onfocus=globalThis.hacked=1 x='",
  'javascript:globalThis.hacked=1//https://evil.example/',
  '{{constructor.constructor("globalThis.hacked=1")()}} #{globalThis.hacked=1}',
  '<svg><style>@import "https://evil.example/x.css"</style><animate onbegin=globalThis.hacked=1>',
  '</title></textarea><iframe srcdoc="<script>parent.hacked=1</script>">',
  '__proto__',
  'constructor',
  '\u202Eabc\u2066def\u200B \u0600 invisible \uFEFF',
  `${'W'.repeat(60)}${'\u0301'.repeat(38)}x`,
  `${'unbroken'.repeat(12)}`,
  'سلام دنیا 日本語 👩‍👩‍👧‍👦 \u{1F1F5}\u{1F1F0} é\u0338\u031B\u0318',
  '=HYPERLINK("https://evil.example/","total")',
  "Robert'); DROP TABLE api_keys;-- %00%0d%0a &lt;b&gt; \\u003cb\\u003e",
];

/** Far longer than any screen is wide, without a place to break. */
export const LONG = `<${'x'.repeat(3_000)}>`;
