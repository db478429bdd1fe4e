// The documentation's script. The page works without it: it searches and copies.
(() => {
  'use strict';

  const form = document.getElementById('search');
  const field = document.getElementById('find');
  const status = document.getElementById('found');
  const entries = [...document.querySelectorAll('.entry')].map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
    links: document.querySelectorAll(`.contents a[href="#${element.id}"]`),
  }));
  const groups = [...document.querySelectorAll('.group')];
  const lists = [...document.querySelectorAll('.contents ul')];

  // Shows the entries that have all words, and what leads to them.
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    let count = 0;
    for (const { element, text, links } of entries) {
      const isFound = words.every((word) => text.includes(word));
      element.hidden = !isFound;
      for (const link of links) link.parentElement.hidden = !isFound;
      if (isFound) count += 1;
    }
    for (const group of groups) group.hidden = !group.querySelector('.entry:not([hidden])');
    for (const list of lists) {
      const isEmpty = words.length > 0 && !list.querySelector('li:not([hidden])');
      list.hidden = isEmpty;
      list.previousElementSibling.hidden = isEmpty;
    }
    status.textContent = words.length === 0 ? '' : count === 1 ? '1 result' : `${count} results`;
  };
  field.addEventListener('input', search);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const first = entries.find(({ element }) => !element.hidden);
    if (first) location.hash = first.element.id;
  });
  form.hidden = false;
  search();

  // Ctrl+K or Command+K goes to the search, as in the app.
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    field.select();
  });

  for (const button of document.querySelectorAll('.examples button')) {
    button.hidden = false;
    const say = (text) => {
      status.textContent = text;
      button.textContent = text;
      setTimeout(() => {
        button.textContent = 'Copy';
        if (status.textContent === text) search();
      }, 2000);
    };
    button.addEventListener('click', async () => {
      const code = button.nextElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
        say('Copied');
      } catch {
        getSelection().selectAllChildren(code);
        say('Press Ctrl+C');
      }
    });
  }
})();
