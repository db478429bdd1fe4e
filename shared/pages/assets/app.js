// The app's script. Pages work without it.
(() => {
  'use strict';

  // The parts of a page that show what waits, as the page came.
  const live = [...document.querySelectorAll('[data-refresh]')].map((element) => ({ element, html: element.innerHTML }));

  // Times: the title has the reader's own, unless only the hour is known.
  const own = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  const showTimes = (root) => root.querySelectorAll('time:not([data-hour])').forEach((element) => {
    element.title = own.format(new Date(element.dateTime));
  });

  const COPY = 'button[data-copy], button[data-copy-text]';
  const showCopies = (root) => root.querySelectorAll(COPY).forEach((button) => {
    button.hidden = false;
  });

  // Calendars. The button after a date's field opens the browser's own; the field gets the date as people type it.
  const CLOCK = /[,\s]+(at|noon|\d\d?(:| ?[ap]\.?m)).*/i;
  const showCalendars = (root) => root.querySelectorAll('[data-calendar]').forEach((button) => {
    const field = button.previousElementSibling;
    const isMonthFirst = button.dataset.calendar === 'month';
    const picker = document.createElement('input');
    if (!picker.showPicker) return;
    Object.assign(picker, { type: 'date', className: 'visually-hidden', tabIndex: -1, ariaHidden: true });
    button.after(picker);
    button.hidden = false;
    button.addEventListener('click', () => {
      // Browsers read figures with the month first.
      const typed = field.value.replace(CLOCK, '').replaceAll('-', '/');
      const date = isMonthFirst ? typed : typed.replace(/^(\d\d?)[/.](\d\d?)[/.]/, '$2/$1/');
      picker.valueAsNumber = /\d{4}/.test(date) ? Date.parse(`${date} UTC`) : NaN;
      picker.showPicker();
    });
    picker.addEventListener('change', () => {
      if (!picker.value) return;
      const [, day, month, year] = picker.valueAsDate.toUTCString().split(' ');
      const date = isMonthFirst ? `${month} ${+day}, ${year}` : `${+day} ${month} ${year}`;
      // A time stays; several days get one more.
      const clock = field.value.match(CLOCK)?.[0] ?? '';
      field.value = field.rows ? `${field.value.trim()}\n${date}`.trim() : date + clock;
      field.focus();
    });
  });

  const showAll = (root) => [showTimes, showCopies, showCalendars].forEach((show) => show(root));
  showAll(document);

  // What waits is looked at again: each minute for half an hour while in sight, and when it comes back into sight. A part
  // that has changed is replaced, unless the reader is in it.
  if (live.length > 0) {
    const EVERY_MS = 60_000;
    let left = 30;
    const refresh = async () => {
      if (left === 0 || document.hidden) return;
      left -= 1;
      const response = await fetch(location.href).catch(() => null);
      if (!response) return;
      // The session has ended, or the record is gone: the page stays as it is.
      if (response.redirected || !response.ok) return void (left = 0);
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      for (const part of live) {
        const html = page.querySelector(`[data-refresh="${part.element.dataset.refresh}"]`)?.innerHTML;
        if (html === undefined || html === part.html || part.element.contains(document.activeElement)) continue;
        part.html = html;
        part.element.innerHTML = html;
        showAll(part.element);
      }
    };
    setInterval(refresh, EVERY_MS);
    document.addEventListener('visibilitychange', refresh);
  }

  // Copy buttons. `data-copy` is the id of what is copied, `data-copy-text` the text itself.
  // Screen readers announce what changes in it.
  const status = document.createElement('p');
  status.className = 'visually-hidden';
  status.setAttribute('role', 'status');
  document.getElementById('main').append(status);
  const say = (button, text) => {
    button.dataset.label ??= button.textContent;
    const show = (to) => {
      button.ariaLabel = button.ariaLabel?.replace(button.textContent, to) ?? null;
      button.textContent = to;
    };
    status.textContent = text;
    show(text);
    clearTimeout(button.timer);
    button.timer = setTimeout(() => {
      show(button.dataset.label);
      status.textContent = '';
    }, 2000);
  };
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest?.(COPY);
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(button.dataset.copyText ?? source.value ?? source.textContent);
      say(button, 'Copied');
    } catch {
      if (!source) return say(button, 'Not copied');
      if (source.select) source.select();
      else getSelection().selectAllChildren(source);
      say(button, 'Press Ctrl+C');
    }
  });

  // A field to draw a signature in: an SVG path in a field of 1000 by 300.
  for (const pad of document.querySelectorAll('[data-pad]')) {
    const [svg, value] = pad.querySelectorAll('svg, input');
    let last = null;
    const set = (text) => {
      value.value = text;
      svg.firstElementChild.setAttribute('d', text);
    };
    const add = (event, command) => {
      const { left, top, width, height } = svg.getBoundingClientRect();
      const at = (part, max) => Math.round(Math.min(1, Math.max(0, part)) * max);
      const point = [at((event.clientX - left) / width, 1000), at((event.clientY - top) / height, 300)];
      if (command === 'L' && Math.hypot(point[0] - last[0], point[1] - last[1]) < 3) return;
      last = point;
      set(`${value.value}${command}${point.join(' ')}`);
    };
    svg.addEventListener('pointerdown', (event) => {
      // Neither a second finger nor another button of the mouse draws.
      if (!event.isPrimary || event.button !== 0) return;
      svg.setPointerCapture(event.pointerId);
      add(event, 'M');
      // A dot is a line to where it began.
      set(`${value.value}L${last.join(' ')}`);
    });
    svg.addEventListener('pointermove', (event) => {
      if (svg.hasPointerCapture(event.pointerId)) add(event, 'L');
    });
    pad.querySelector('button').addEventListener('click', () => set(''));
    // A browser that comes back brings the field, but not the drawing of it.
    addEventListener('pageshow', () => set(value.value));
    pad.hidden = false;
  }

  // The browser asks before a link, or another form, loses what was typed. Who signs in has nothing to lose.
  const typed = new Set();
  let [sent, isDownload] = [null, false];
  // A field may be named “method”, too.
  const isPost = (form) => form?.getAttribute('method') === 'post';
  const keep = (field) => {
    sent = null;
    if (isPost(field?.form) && !field.form.querySelector('[type=password]')) typed.add(field.form);
  };
  keep(document.querySelector('[aria-invalid=true]'));
  document.addEventListener('input', ({ target }) => keep(target));
  // A download leaves the page where it is.
  document.addEventListener('click', ({ target }) => {
    isDownload = /\/(bundle|certificate|download|export|file)$/.test(target.closest('a')?.pathname);
    setTimeout(() => { isDownload = false; }, 1000);
  });
  addEventListener('beforeunload', (event) => {
    if (isDownload || [...typed].every((form) => form === sent)) return;
    sent = null;
    event.preventDefault();
  });

  // A form is sent once: a second press of its button would cancel the first answer, which may show what is shown once.
  // Files that are too large would take what was typed along with them: no function reads such a form.
  const PAUSE_MS = 3000;
  const MB = 2 ** 20;
  const FILES_MB_MAX = 4;
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!isPost(form) || event.defaultPrevented) return;
    const chosen = [...form.querySelectorAll('input[type=file]')].filter((field) => field.files.length > 0);
    const sizes = chosen.flatMap(({ files }) => [...files]).map(({ size }) => size);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > FILES_MB_MAX * MB) {
      event.preventDefault();
      const what = sizes.length === 1 ? 'This file is' : 'Together, these files are';
      // Rounded up: never told to be as large as the limit.
      chosen[0].setCustomValidity(`${what} ${Math.ceil(bytes / MB * 10) / 10} MB. The limit is ${FILES_MB_MAX} MB.`);
      chosen[0].reportValidity();
      form.addEventListener('input', () => chosen[0].setCustomValidity(''), { once: true });
      return;
    }
    sent = form;
    if (form.sentAt && Date.now() - form.sentAt < PAUSE_MS) event.preventDefault();
    else form.sentAt = Date.now();
  });
  addEventListener('pageshow', () => {
    for (const form of document.forms) form.sentAt = 0;
  });

  // Ctrl+K or Command+K: a palette of the pages, the acts and what the search finds.
  const SEARCH = '/app/search?q=';
  const WAIT_MS = 250;
  const acts = document.getElementById('palette-acts');
  const openPalette = () => {
    const dialog = document.createElement('dialog');
    dialog.className = 'palette';
    dialog.ariaLabel = 'Search and go to';
    dialog.innerHTML = '<input role="combobox" aria-label="Search, or go to a page" aria-autocomplete="list" aria-expanded="true" aria-controls="palette" maxlength="200" autocomplete="off" placeholder="Search, or go to a page"><ul id="palette" role="listbox" aria-label="Results"></ul><p class="visually-hidden" role="status"></p>';
    const [field, list, count] = dialog.children;
    const rowsOf = (kind, links) => [...links].map((link) => ({ kind, name: link.textContent.trim(), url: link.getAttribute('href') }));
    const known = [
      ...rowsOf('On this page', document.querySelectorAll('main a.button')),
      ...rowsOf('Page', document.querySelectorAll('.rail a')),
      ...rowsOf('Act', acts.content.children),
    ];
    let [found, active, timer, request] = [[], '', 0, null];
    const go = (url) => {
      dialog.close();
      location.assign(url);
    };
    const mark = (url) => {
      active = url;
      for (const option of list.children) {
        const isActive = option.dataset.url === active;
        option.ariaSelected = isActive;
        if (!isActive) continue;
        field.setAttribute('aria-activedescendant', option.id);
        option.scrollIntoView({ block: 'nearest' });
      }
    };
    const draw = () => {
      const text = field.value.trim();
      const rows = [...known.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())), ...found]
        .filter(({ url }, at, all) => all.findIndex((row) => row.url === url) === at);
      if (text) rows.push({ kind: '', name: `Search everything for “${text}”`, url: SEARCH + encodeURIComponent(text) });
      list.replaceChildren(...rows.map(({ kind, name, url }, at) => {
        const [option, about] = ['li', 'span'].map((tag) => document.createElement(tag));
        about.textContent = kind;
        option.append(name, about);
        option.id = `option-${at}`;
        option.role = 'option';
        option.dataset.url = url;
        return option;
      }));
      count.textContent = rows.length === 1 ? '1 result' : `${rows.length} results`;
      mark(rows.slice(0, -1).some(({ url }) => url === active) ? active : rows[0].url);
    };
    const search = async (text) => {
      request = new AbortController();
      const answer = await fetch(SEARCH + encodeURIComponent(text), { signal: request.signal }).catch(() => null);
      if (!answer?.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text().catch(() => ''), 'text/html');
      if (field.value.trim() !== text) return;
      found = [...page.querySelectorAll('main section')].flatMap((section) => rowsOf(section.querySelector('h2').firstChild.textContent, section.querySelectorAll('.found a')));
      draw();
    };
    field.addEventListener('input', () => {
      clearTimeout(timer);
      request?.abort();
      [found, active] = [[], ''];
      draw();
      const text = field.value.trim();
      if (text) timer = setTimeout(search, WAIT_MS, text);
    });
    field.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Enter') go(active);
      else if (!step) return;
      event.preventDefault();
      const options = [...list.children];
      const at = options.findIndex(({ dataset }) => dataset.url === active) + step;
      if (step) mark(options.at(at % options.length).dataset.url);
    });
    dialog.addEventListener('click', ({ target }) => {
      const option = target.closest('[role=option]');
      if (option) go(option.dataset.url);
      else if (target === dialog) dialog.close();
    });
    dialog.addEventListener('close', () => {
      request?.abort();
      dialog.remove();
    });
    document.body.append(dialog);
    draw();
    dialog.showModal();
  };
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey || !acts) return;
    event.preventDefault();
    const open = document.querySelector('.palette[open]');
    if (open) open.close();
    else openPalette();
  });
})();
