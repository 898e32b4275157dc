// A page whose code could not be loaded, or failed before anything was shown, would be a blank window. This needs nothing of the
// application, which replaces what is shown here if it starts after all.

const MAX_REASON = 300;

function part(name: 'h1' | 'p' | 'code', text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function sayFailure(reason: string): void {
  const root = document.getElementById('root');
  if (root === null || root.childElementCount > 0) return;
  const message = document.createElement('main');
  message.className = 'start-failure';
  message.setAttribute('role', 'alert');
  message.append(
    part('h1', 'The dashboard could not start'),
    part(
      'p',
      'Reload this page. If it happens again, try a current version of Chrome, Edge, Firefox or Safari without extensions that change pages. Your operator can use this message:',
    ),
    part('code', reason.slice(0, MAX_REASON)),
  );
  root.replaceChildren(message);
}

addEventListener(
  'error',
  ({ target, message }: ErrorEvent) => {
    const isScript = target instanceof HTMLScriptElement;
    // A font or a style sheet that is missing stops nothing.
    if (!isScript && target !== window) return;
    const reason = isScript ? `Could not load ${target.src}` : message;
    // React empties the page after it has reported the error.
    setTimeout(() => sayFailure(reason));
  },
  true,
);
