import type { FirstLoad } from './bundle.ts';

/** The files that the page names, by path below its folder. */
export interface PageFiles extends FirstLoad {
  /** Runs before all others. */
  readonly script: string;
  readonly icon: string;
}

/**
 * The page: it names the first files and holds nothing else. It has no script and no style of its own, because the
 * content security policy allows none. React Aria adds a style element unless an element has the id of the last meta.
 */
export function indexPage({ entry, imports, styles, fonts, script, icon }: PageFiles): string {
  // The browser finds these only after the style sheet or the script that needs them.
  const links = [
    ...imports.map((path) => `<link rel="modulepreload" href="/${path}">\n`),
    ...fonts.map((path) => `<link rel="preload" href="/${path}" as="font" type="font/woff2" crossorigin>\n`),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta id="react-aria-pressable-style" name="react-aria" content="its style is in the style sheet">
<title>Gatehouse</title>
<link rel="icon" type="image/svg+xml" href="/${icon}">
<script src="/${script}"></script>
${styles === undefined ? '' : `<link rel="stylesheet" href="/${styles}">\n`}<script type="module" src="/${entry}"></script>
${links.join('')}</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript. The same figures and actions are in the API, below /api of this address.</noscript>
</body>
</html>
`;
}
