/** The style of the reference, in the colours of the dashboard. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#faf8f4, #141310); --raised: light-dark(#ffffff, #1d1c18);
  --line: light-dark(#e8e3d8, #2e2c26); --ink: light-dark(#1b1a17, #f3efe6); --ink-2: light-dark(#524e45, #bdb7a9);
  --accent: light-dark(#2843b8, #9bb0ff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
  display: grid; grid-template-columns: 260px minmax(0, 1fr); }
a { color: var(--accent); }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--raised); padding: 8px; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 20px 16px; border-right: 1px solid var(--line); font-size: 14px; }
nav h2 { font-size: 14px; margin: 20px 0 4px; }
nav h3 { font-size: 12px; margin: 12px 0 2px; color: var(--ink-2); font-weight: 600; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: 2px 0; color: var(--ink); text-decoration: none; overflow-wrap: anywhere; }
nav li a:hover { color: var(--accent); text-decoration: underline; }
.brand { margin: 0; font-weight: 600; }
.brand a { color: var(--ink); text-decoration: none; }
.brand span { color: var(--ink-2); font-weight: 400; }
main { padding: 32px 40px 80px; max-width: 1240px; }
main h1 { margin: 0 0 8px; font-size: 28px; }
main > h2 { margin: 40px 0 8px; font-size: 22px; }
main > h2.section { font-size: 17px; margin-top: 32px; text-transform: capitalize; }
.operation { background: var(--raised); border: 1px solid var(--line); border-radius: 10px; padding: 16px 20px; margin: 16px 0; scroll-margin-top: 16px; }
.operation:target { border-color: var(--accent); }
.operation h3 { margin: 0; font-size: 15px; font-weight: 600; overflow-wrap: anywhere; }
.operation h4 { margin: 16px 0 4px; font-size: 12px; color: var(--ink-2); }
.method { display: inline-block; min-width: 56px; font: 600 12px/1 ui-monospace, monospace; color: var(--accent); }
.halves { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 24px; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { margin: 0; padding: 12px; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); }
th { color: var(--ink-2); font-weight: 600; }
td i { color: var(--ink-2); font-size: 12px; }
.answer { margin: 4px 0; }
summary { cursor: pointer; }
@media (min-width: 901px) {
  td:first-child code { white-space: nowrap; }
}
@media (max-width: 900px) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 20px 16px 60px; }
  .halves { grid-template-columns: minmax(0, 1fr); gap: 0; }
}
`;
