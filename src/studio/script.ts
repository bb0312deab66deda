/**
 * The script of the page, served as a file: it replaces parts that have changed, and helps with the keyboard. Without it
 * all pages and forms work, and changes show when a page is loaded again.
 */
export const STUDIO_SCRIPT = `'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  let isMoved = false;

  // Times in the zone of the reader.
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  const hour = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
  const localize = (root) => {
    const today = new Date().toDateString();
    for (const element of root.querySelectorAll('time')) {
      const at = new Date(element.dateTime);
      element.title = element.dateTime;
      element.textContent = (at.toDateString() === today ? hour : zone).format(at);
    }
  };

  const elapsed = (ms) => {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 60) return s + ' s';
    if (s < 3600) return Math.floor(s / 60) + ' min ' + (s % 60) + ' s';
    if (s < 86400) return Math.floor(s / 3600) + ' h ' + (Math.floor(s / 60) % 60) + ' min';
    const days = Math.floor(s / 86400);
    return days + (days === 1 ? ' day ' : ' days ') + (Math.floor(s / 3600) % 24) + ' h';
  };
  const tick = () => {
    for (const element of document.querySelectorAll('[data-since]'))
      element.textContent = 'for ' + elapsed(Date.now() - Date.parse(element.dataset.since));
    const line = document.querySelector('.timeline[data-start]');
    if (line === null) return;
    const span = Math.max(1, Date.now() - line.dataset.start);
    for (const bar of line.querySelectorAll('rect')) {
      const { from, to = Date.now() } = bar.dataset;
      bar.setAttribute('x', Math.min(99.6, (100 * (from - line.dataset.start)) / span) + '%');
      bar.setAttribute('width', Math.max(0.4, (100 * (to - from)) / span) + '%');
    }
  };
  tick();
  setInterval(tick, 1000);

  // Forms that are being filled in stay as they are.
  document.addEventListener('input', (event) => {
    const form = event.target.closest('form[id]');
    if (form !== null) form.dataset.changed = '';
  });

  const replace = ({ id, html }) => {
    const part = byId(id);
    if (part === null) return;
    const open = [...part.querySelectorAll('details[id]')].map((each) => [each.id, each.open]);
    const unsent = [...part.querySelectorAll('form[data-changed]')];
    const scrolls = [...part.querySelectorAll('.graph, .wide, pre')].map((each) => [each.scrollLeft, each.scrollTop]);
    const active = document.activeElement;
    const focus = part.contains(active) ? [active.id, active.getAttribute('href')] : undefined;
    part.innerHTML = html;
    for (const [name, isOpen] of open) {
      const details = byId(name);
      if (details !== null) details.open = isOpen;
    }
    for (const form of unsent) byId(form.id)?.replaceWith(form);
    const scrolled = [...part.querySelectorAll('.graph, .wide, pre')];
    scrolls.forEach(([left, top], index) => scrolled[index]?.scrollTo(left, top));
    localize(part);
    tick();
    if (focus === undefined || part.contains(document.activeElement)) return;
    const [name, href] = focus;
    const links = href ? [...part.querySelectorAll('a[href="' + CSS.escape(href) + '"]')] : [];
    const next = name ? byId(name) : links.find((each) => each.getClientRects().length > 0);
    if (next && part.contains(next)) next.focus({ preventScroll: true });
  };

  const { live } = document.body.dataset;
  if (live !== undefined) {
    const link = byId('link');
    const source = new EventSource(live);
    const say = (text, state) => {
      link.textContent = text;
      link.className = state;
    };
    say('connecting', 'lost');
    source.addEventListener('open', () => say('live', 'live'));
    source.addEventListener('error', () => say('connection lost, trying again', 'lost'));
    source.addEventListener('message', (event) => {
      JSON.parse(event.data).forEach(replace);
      follow();
      // The time of the last change, for tests and measurements.
      document.body.dataset.changed = String(Date.now());
    });
    addEventListener('pagehide', () => source.close());
  }

  // A link to a step opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === 'DETAILS') {
      target.open = true;
      target.scrollIntoView({ block: 'center' });
      target.querySelector('summary').focus({ preventScroll: true });
    }
  };
  addEventListener('hashchange', reveal);
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#step-"]');
    if (link !== null && (link.getAttribute('href') === location.hash)) reveal();
  });
  reveal();

  // A graph shows what runs, until its reader moves it.
  const follow = () => {
    const graph = document.querySelector('.graph');
    if (graph === null || isMoved) return;
    const firstShown = (selector) => [...graph.querySelectorAll(selector)].find((each) => each.getClientRects().length > 0);
    const box = firstShown('.s-running, .s-waiting, .s-failed') ?? firstShown('.box');
    const [outer, inner] = [graph.getBoundingClientRect(), box?.getBoundingClientRect()];
    if (inner === undefined) return;
    graph.scrollLeft += inner.x + inner.width / 2 - outer.x - outer.width / 2;
    graph.scrollTop += inner.y + inner.height / 2 - outer.y - outer.height / 2;
  };
  for (const kind of ['wheel', 'pointerdown', 'keydown'])
    document.addEventListener(kind, (event) => {
      if (event.target.closest?.('.graph')) isMoved = true;
    }, { passive: true });
  follow();

  // Filters apply at once.
  for (const select of document.querySelectorAll('.filters select'))
    select.addEventListener('change', () => select.form.requestSubmit());

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target, key } = event;
    if (target.closest('input, textarea, select')) {
      if (key === 'Escape') target.blur();
      return;
    }
    const rows = [...document.querySelectorAll('a.row')];
    if (key === '/' && byId('search') !== null) byId('search').focus();
    else if ((key === 'j' || key === 'k') && rows.length > 0) {
      const at = rows.indexOf(document.activeElement);
      rows[Math.max(0, Math.min(rows.length - 1, at + (key === 'j' ? 1 : -1)))].focus();
    } else return;
    event.preventDefault();
  });

  localize(document);
})();
`;
