// @ts-check
// Keeps the live part of a page up to date, and gives keys. Everything works without it, but nothing moves then.

/** What an event carries: cells that have changed by their numbers, or the whole live part with its shape.
 * @typedef {{cells?: Record<string, string>, html?: string, shape?: string}} Delta */

const state = /** @type {HTMLElement | null} */ (document.querySelector('.state'));
let live = /** @type {HTMLElement | null} */ (document.getElementById('live'));

/** The cells of the live part by their numbers. @type {Map<string, Element>} */
let cells = new Map();

/** @type {EventSource | null} */
let stream = null;

function index() {
  cells = new Map();
  live?.querySelectorAll('[data-c]').forEach((e) => cells.set(e.getAttribute('data-c') ?? '', e));
}

/** @param {Delta} delta */
function apply(delta) {
  if (!live) return;
  if (delta.html !== undefined) {
    const at = document.activeElement;
    const address = at instanceof HTMLAnchorElement && live.contains(at) ? at.getAttribute('href') : null;
    live.innerHTML = delta.html; // the server has escaped what is not ours
    live.dataset.shape = delta.shape;
    index();
    if (address) {
      /** @type {HTMLElement | null} */ (live.querySelector(`a[href="${CSS.escape(address)}"]`))?.focus();
    }
  }
  for (const [number, value] of Object.entries(delta.cells ?? {})) {
    const cell = cells.get(number);
    const attribute = cell?.getAttribute('data-a');
    if (attribute) cell?.setAttribute(attribute, value);
    else if (cell) cell.textContent = value;
  }
}

/** @param {boolean} on */
function tell(on) {
  if (!state) return;
  const text = (on ? state.dataset.live : state.dataset.lost) ?? '';
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle('off', !on);
  state.hidden = false;
}

function connect() {
  stream?.close();
  stream = null;
  if (!live || document.hidden) return;
  const address = new URL(location.href);
  address.hash = '';
  address.searchParams.set('live', live.dataset.shape ?? '');
  const opened = new EventSource(address);
  opened.onopen = () => tell(true);
  opened.onmessage = (event) => apply(JSON.parse(event.data));
  opened.onerror = () => {
    tell(false);
    if (opened.readyState !== EventSource.CLOSED) return; // the browser tries again
    setTimeout(() => { if (stream === opened) connect(); }, 2000);
  };
  stream = opened;
}

/** Shows what a form asks for while somebody types. @param {HTMLFormElement} form */
function typed(form) {
  let waits = 0;
  let turn = 0;
  const ask = async () => {
    const mine = ++turn;
    const address = new URL(location.pathname, location.href);
    new FormData(form).forEach((value, name) => { if (value) address.searchParams.set(name, String(value)); });
    try {
      const answer = await fetch(address, { headers: { Accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const part = page.getElementById('live') ?? page.querySelector('.problem');
      if (mine !== turn || !live || !part) return;
      history.replaceState(null, '', address);
      live.innerHTML = part.innerHTML;
      live.dataset.shape = part.dataset.shape ?? '';
      index();
      connect();
    } catch {
      tell(false);
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(waits);
    waits = setTimeout(ask, 60);
  });
}

/** Tells whether keys belong to what has the focus. @param {EventTarget | null} target */
function writes(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

let went = -Infinity; // when g was pressed

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (writes(event.target)) {
    if (event.key === 'Escape') /** @type {HTMLElement} */ (event.target).blur();
    return;
  }
  if (event.key === '/') {
    event.preventDefault();
    /** @type {HTMLElement | null} */ (document.querySelector('[data-search]'))?.focus();
  } else if (event.key === 'g') {
    went = event.timeStamp;
  } else if (event.timeStamp - went < 1500) {
    went = -Infinity;
    /** @type {HTMLElement | null} */ (document.querySelector(`nav [data-key="${CSS.escape(event.key)}"]`))?.click();
  }
});

document.querySelectorAll('nav a').forEach((a) => {
  if (a instanceof HTMLAnchorElement && a.pathname === location.pathname) a.setAttribute('aria-current', 'page');
});
document.querySelectorAll('form[data-typed]').forEach((f) => { if (f instanceof HTMLFormElement) typed(f); });
document.addEventListener('visibilitychange', connect);
index();
connect();
