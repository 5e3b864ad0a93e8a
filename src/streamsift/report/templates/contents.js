// The contents: where the reader is, sections that fold, the keys that go from one to the next, and copying.
const foldButtons = () => [...document.querySelectorAll("button.fold")];

const fold = (button, open) => {
  button.setAttribute("aria-expanded", String(open));
  document.getElementById(button.getAttribute("aria-controls")).hidden = !open;
  const all = document.getElementById("fold-all");
  if (all) all.textContent = foldButtons().some(isOpen) ? "Collapse all" : "Expand all";
};

const isOpen = (button) => button.getAttribute("aria-expanded") === "true";

// The section at the top of the window, or the last one that begins above it.
const sectionHere = () => {
  const line = Math.min(160, innerHeight / 3);
  const above = [...document.querySelectorAll("main > section")].filter((part) => part.getBoundingClientRect().top <= line);
  return above.at(-1) ?? null;
};

const markHere = () => {
  const here = sectionHere();
  for (const link of document.querySelectorAll("#contents-list > ol > li > a")) {
    const current = here !== null && link.hash === "#" + here.id;
    if (current) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    link.parentElement.classList.toggle("here", current);
  }
  const name = here === null ? "" : here.querySelector("button.fold").textContent;
  document.getElementById("contents-here").textContent = name;
};

// A link opens the section it leads to; on a phone the list closes behind it.
const goTo = (hash) => {
  const target = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
  const part = target?.closest("section");
  if (part) fold(part.querySelector("button.fold"), true);
  document.getElementById("contents-toggle")?.setAttribute("aria-expanded", "false");
};

const stepSection = (way) => {
  const buttons = foldButtons(), here = sectionHere();
  const place = here === null ? -1 : buttons.indexOf(here.querySelector("button.fold"));
  const current = buttons.indexOf(document.activeElement);
  const next = buttons[Math.max(0, Math.min(buttons.length - 1, (current >= 0 ? current : place) + way))];
  next?.closest("section").scrollIntoView();
  next?.focus({preventScroll: true});
};

// Arrow keys, Home and End within the list of links.
const arrowKeys = (event) => {
  const links = [...document.querySelectorAll("#contents-list a")].filter((link) => link.offsetParent !== null);
  const place = links.indexOf(document.activeElement), last = links.length - 1;
  const next = {ArrowDown: Math.min(place + 1, last), ArrowUp: Math.max(place - 1, 0), Home: 0, End: last}[event.key];
  if (next === undefined || place < 0 || event.altKey) return;
  event.preventDefault();
  links[next].focus();
};

const startContents = () => {
  for (const button of foldButtons()) button.addEventListener("click", () => fold(button, !isOpen(button)));
  document.addEventListener("keydown", (event) => {
    const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!event.altKey || way === undefined || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    stepSection(way);
  });
  const list = document.getElementById("contents-list");
  if (list === null) return;
  const toggle = document.getElementById("contents-toggle"), all = document.getElementById("fold-all");
  document.documentElement.classList.add("scripted");
  toggle.addEventListener("click", () => toggle.setAttribute("aria-expanded", String(!isOpen(toggle))));
  all.addEventListener("click", () => {
    const open = !foldButtons().some(isOpen);
    foldButtons().forEach((button) => fold(button, open));
    markHere();
  });
  list.addEventListener("keydown", arrowKeys);
  list.addEventListener("click", (event) => event.target.closest("a") && goTo(event.target.closest("a").hash));
  addEventListener("hashchange", () => goTo(location.hash));
  addEventListener("scroll", markHere, {passive: true});
  addEventListener("resize", markHere);
  goTo(location.hash);
  markHere();
};

// Copying works from a file too; a browser that refuses the clipboard gets the text selected, ready for the keys.
const copyText = async (node) => {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy");
  }
};

const startCopying = () => {
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      button.textContent = await copyText(document.getElementById(button.dataset.text)) ? "Copied" : "Selected: press Ctrl C";
      setTimeout(() => { button.textContent = "Copy"; }, 2500);
    });
  }
};
