// Runs in a page: `await pageToSvg()` is what the window shows as the text of one SVG file that needs nothing else: the elements, the
// rules of the stylesheets that they use, and the charts as shapes (see record-canvas.js). Text is set in the viewer's fonts.
window.pageToSvg = async () => {
  const XHTML = 'http://www.w3.org/1999/xhtml';
  const SVG = 'http://www.w3.org/2000/svg';
  const { innerWidth: width, innerHeight: height } = window;
  const root = document.documentElement;

  const isBelow = (element) => {
    const { top, height: own } = element.getBoundingClientRect();
    return own > 0 && top >= height;
  };
  // Lengths of the window become pixels: within a picture they would be those of the picture as it is shown.
  const inPixels = (text) =>
    text.replace(
      /(\d*\.?\d+)[dsl]?v([hw])\b/g,
      (_, share, side) => `${(share * (side === 'h' ? height : width)) / 100}px`,
    );
  const isUsed = (selector) => {
    const element = selector
      .replace(/::[\w-]+(\([^)]*\))?/g, '')
      .replace(/:(hover|focus|focus-visible|focus-within|active)/g, ':not(*)');
    try {
      return document.querySelector(element || '*') !== null;
    } catch {
      return false;
    }
  };
  // The text and not the rules that the browser made of it: it cannot print a shorthand with a variable once one of its parts is
  // set again. The stylesheets are our own, minified, and no string in them has a brace.
  const blocksOf = (text) => {
    const blocks = [];
    let depth = 0;
    let start = 0;
    let open = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (text[at] === '{' && depth++ === 0) open = at;
      if (text[at] === '}' && --depth === 0) {
        blocks.push({
          head: text
            .slice(start, open)
            .replace(/\/\*.*?\*\//gs, '')
            .trim(),
          body: text.slice(open + 1, at),
        });
        start = at + 1;
      }
    }
    return blocks;
  };
  const usedRules = (text) =>
    blocksOf(text)
      .map(({ head, body }) => {
        if (/^@(font-face|keyframes)/.test(head)) return '';
        if (head.startsWith('@media'))
          return matchMedia(head.slice('@media'.length)).matches ? usedRules(body) : '';
        if (head.startsWith('@')) return `${head}{${usedRules(body)}}`;
        return isUsed(head) ? `${head}{${body}}` : '';
      })
      .filter((rule) => rule !== '')
      .join('\n');

  // What lies below the window is left out.
  const copy = (node) => {
    if (node.nodeType === Node.TEXT_NODE)
      return document.createTextNode(node.data.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, ''));
    if (node.nodeType !== Node.ELEMENT_NODE || ['SCRIPT', 'STYLE', 'LINK', 'NOSCRIPT'].includes(node.tagName))
      return null;
    if (getComputedStyle(node).display === 'none' || isBelow(node)) return null;
    if (node.tagName === 'CANVAS') return chart(node);
    const made = document.createElementNS(node.namespaceURI, node.localName);
    for (const { name, value } of node.attributes) {
      if (
        /^(class|data-|aria-|role|type|d$|x|y|r|c[xy]$|rx|ry|points|viewBox|width|height|fill|stroke|transform|colspan|placeholder)/.test(
          name,
        )
      ) {
        made.setAttribute(name, value);
      }
    }
    made.style.cssText = inPixels(node.style.cssText);
    if (node.tagName === 'INPUT') made.setAttribute('value', node.value);
    if (node.checked) made.setAttribute('checked', '');
    for (const child of node.childNodes) {
      const copied = copy(child);
      if (copied) made.append(copied);
    }
    return made;
  };
  const chart = (canvas) => {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 ${canvas.width} ${canvas.height}`);
    svg.style.cssText = `${canvas.style.cssText};display:block;width:${canvas.clientWidth}px;height:${canvas.clientHeight}px`;
    for (const { name, attributes, text, clips } of canvas.drawn ?? []) {
      const shape = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) {
        if (key === 'font') shape.style.font = value;
        else shape.setAttribute(key, value);
      }
      if (text !== undefined) shape.textContent = text;
      svg.append(
        clips.reduceRight((within, clip) => {
          const group = document.createElementNS(SVG, 'g');
          group.style.clipPath = `path("${clip}")`;
          group.append(within);
          return group;
        }, shape),
      );
    }
    return svg;
  };

  const sheets = await Promise.all(
    Array.from(document.styleSheets, async ({ href }) => (await fetch(href)).text()),
  );
  const style = document.createElementNS(SVG, 'style');
  style.textContent = inPixels(usedRules(sheets.join('')));
  const body = copy(document.body);
  const frame = document.createElementNS(XHTML, 'html');
  frame.style.cssText = `width:${width}px;height:${height}px;overflow:hidden`;
  frame.append(body);
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const serialized = new XMLSerializer();
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `data-theme="${root.dataset.theme ?? theme}" style="color-scheme:${theme}">` +
    `${serialized.serializeToString(style)}<foreignObject width="${width}" height="${height}">` +
    `${serialized.serializeToString(frame)}</foreignObject></svg>\n`
  );
};
