// Runs in a page before its own scripts: whatever is drawn on a canvas is drawn as before, and kept as SVG shapes in
// `canvas.drawn`, because a canvas has only pixels afterwards. Knows what the charts use.
(() => {
  const shapes = Symbol('the path so far, as in the d of an SVG path');
  const clips = Symbol('the clip paths that are in force');
  const saved = Symbol('the clip paths of each saved state');

  const round = (value) => Number(value.toFixed(2));
  const paths = {
    moveTo: (x, y) => `M${round(x)} ${round(y)}`,
    lineTo: (x, y) => `L${round(x)} ${round(y)}`,
    bezierCurveTo: (...points) => `C${points.map(round).join(' ')}`,
    quadraticCurveTo: (...points) => `Q${points.map(round).join(' ')}`,
    rect: (x, y, width, height) =>
      `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`,
    // Full circles only: the charts draw points.
    arc: (x, y, r) => `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    closePath: () => 'z',
  };
  const keepPaths = (prototype) => {
    for (const [name, write] of Object.entries(paths)) {
      const draw = prototype[name];
      prototype[name] = function keep(...values) {
        this[shapes] = (this[shapes] ?? '') + write(...values);
        return draw.apply(this, values);
      };
    }
  };

  const NativePath = window.Path2D;
  window.Path2D = class extends NativePath {
    constructor(from) {
      super(from);
      if (from) this[shapes] = from[shapes] ?? '';
    }
  };
  keepPaths(window.Path2D.prototype);

  const context = CanvasRenderingContext2D.prototype;
  keepPaths(context);

  const before = (name, keep) => {
    const draw = context[name];
    context[name] = function drawAndKeep(...values) {
      keep.apply(this, values);
      return draw.apply(this, values);
    };
  };
  const matrix = (of) => {
    const { a, b, c, d, e, f } = of.getTransform();
    return `matrix(${[a, b, c, d, e, f].map(round).join(' ')})`;
  };
  const pathOf = (of, given) => (given instanceof NativePath ? given[shapes] : of[shapes]) ?? '';
  const add = (to, name, attributes, text) => {
    if (to.globalAlpha === 0) return;
    const shape = {
      name,
      attributes: { ...attributes, opacity: round(to.globalAlpha), transform: matrix(to) },
      text,
      clips: to[clips] ?? [],
    };
    to.canvas.drawn = [...(to.canvas.drawn ?? []), shape];
  };
  const paint = (kind) =>
    function keep(given) {
      const d = pathOf(this, given);
      const colour = kind === 'fill' ? this.fillStyle : this.strokeStyle;
      if (d === '' || typeof colour !== 'string' || (kind === 'stroke' && this.lineWidth === 0)) return;
      const stroke = {
        fill: 'none',
        stroke: colour,
        'stroke-width': round(this.lineWidth),
        'stroke-linejoin': this.lineJoin,
        'stroke-linecap': this.lineCap,
        'stroke-dasharray': this.getLineDash().join(' ') || 'none',
      };
      add(this, 'path', { d, ...(kind === 'fill' ? { fill: colour } : stroke) });
    };

  before('beginPath', function keep() {
    this[shapes] = '';
  });
  before('save', function keep() {
    this[saved] = [...(this[saved] ?? []), this[clips] ?? []];
  });
  before('restore', function keep() {
    this[clips] = this[saved]?.at(-1) ?? [];
    this[saved] = this[saved]?.slice(0, -1);
  });
  before('clip', function keep(given) {
    this[clips] = [...(this[clips] ?? []), pathOf(this, given)];
  });
  before('clearRect', function keep() {
    this.canvas.drawn = [];
  });
  before('fill', paint('fill'));
  before('stroke', paint('stroke'));
  before('fillText', function keep(text, x, y) {
    const anchor = { center: 'middle', right: 'end', end: 'end' }[this.textAlign] ?? 'start';
    const baseline = { top: 'text-before-edge', middle: 'central', bottom: 'text-after-edge' }[
      this.textBaseline
    ];
    const attributes = {
      x: round(x),
      y: round(y),
      fill: this.fillStyle,
      font: this.font,
      'text-anchor': anchor,
      'dominant-baseline': baseline ?? 'auto',
    };
    add(this, 'text', attributes, text);
  });
})();
