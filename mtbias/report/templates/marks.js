(() => {
  "use strict";
  const get = (id) => document.getElementById(id);
  const { store, file, texts } = JSON.parse(get("data").textContent);
  const problems = [...document.querySelectorAll("[data-problem]")];

  // By id: spans as pairs of offsets in characters, whether no name was found, and problems. A text counts as read
  // where it has a span or is said to have no name. A browser may refuse to keep them: then they last as long as the page.
  let kept = true;
  const marks = new Map();
  try {
    for (const [id, one] of Object.entries(JSON.parse(localStorage.getItem(store) ?? "{}"))) marks.set(id, one);
  } catch { kept = false; }
  const save = () => {
    try { localStorage.setItem(store, JSON.stringify(Object.fromEntries(marks))); } catch { kept = false; }
  };

  const empty = () => ({ spans: [], none: false, problems: [] });
  const of = (text) => marks.get(text.id) ?? empty();
  const isRead = (text) => of(text).spans.length > 0 || of(text).none;
  const open = (from) => {
    const order = [...texts.keys()].map((n) => (from + n) % texts.length);
    return order.find((n) => !isRead(texts[n])) ?? -1;
  };
  let at = Math.max(open(0), 0);

  // Pieces of the text between all borders, each with the class of its mark and its first character.
  const pieces = (text) => {
    const characters = [...text.text], ranges = [[...text.pronoun, "other"], ...of(text).spans.map((span) => [...span, "head"])];
    const borders = [0, characters.length, ...ranges.flatMap(([start, end]) => [start, end])].sort((a, b) => a - b);
    return borders.slice(1).map((end, n) => {
      const start = borders[n], range = ranges.find(([first, last]) => first <= start && end <= last);
      return { start, text: characters.slice(start, end).join(""), kind: range?.[2] };
    }).filter((piece) => piece.text);
  };
  const show = () => {
    const text = texts[at], own = of(text), read = texts.filter(isRead), all = read.length === texts.length;
    get("sentence").replaceChildren(...pieces(text).map(({ start, text: words, kind }) => {
      const element = document.createElement(kind ? "mark" : "span");
      if (kind) element.className = kind;
      element.dataset.start = start;
      element.textContent = words;
      return element;
    }));
    const characters = [...text.text], word = (span) => characters.slice(...span).join("");
    get("question").textContent = `Whom does “${word(text.pronoun)}” mean? `
      + (own.spans.length ? `Marked: ${own.spans.map(word).join(", ")}.` : own.none ? "No name." : "Nothing is marked yet.");
    get("status").textContent = `Text ${at + 1} of ${texts.length}; ${read.length} read.`
      + (all ? " All are read: download the marks." : "")
      + (kept ? "" : " This browser does not keep marks: download them before you close the page.");
    get("progress").value = read.length;
    get("counts").textContent = `${read.length} read, ${read.filter((one) => of(one).none).length} of them without a name.`;
    get("none").ariaPressed = String(own.none);
    for (const box of problems) box.checked = own.problems.includes(box.dataset.problem);
    get("back").disabled = at === 0;
    get("download").disabled = read.length === 0;
  };
  const change = (changed) => {
    const text = texts[at];
    marks.set(text.id, { ...of(text), ...changed });
    save();
    show();
  };

  // The offset of a place of the selection, in characters of the text; -1 outside of it.
  const offset = (node, place) => {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node.childNodes[place] ?? node.lastChild;
    if (element?.dataset?.start === undefined || !get("sentence").contains(element)) return -1;
    const within = node.nodeType === Node.TEXT_NODE ? [...node.data.slice(0, place)].length
      : node.childNodes[place] ? 0 : [...element.textContent].length;
    return Number(element.dataset.start) + within;
  };
  const isLetter = (character) => /[\p{L}\p{N}]/u.test(character ?? "");
  const mark = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return;
    const range = selection.getRangeAt(0), characters = [...texts[at].text];
    let start = offset(range.startContainer, range.startOffset), end = offset(range.endContainer, range.endOffset);
    if (start < 0 || end < 0) return;
    while (start < end && !isLetter(characters[start])) start += 1;
    while (end > start && !isLetter(characters[end - 1])) end -= 1;
    if (start === end) return;
    while (start > 0 && isLetter(characters[start - 1])) start -= 1;
    while (end < characters.length && isLetter(characters[end])) end += 1;
    const [first, last] = texts[at].pronoun;
    if (start < last && first < end) return;
    const apart = of(texts[at]).spans.filter(([from, to]) => end <= from || to <= start);
    selection.removeAllRanges();
    change({ spans: [...apart, [start, end]].sort((a, b) => a[0] - b[0]), none: false });
  };
  const go = (to) => {
    if (to >= 0 && to < texts.length) at = to;
    show();
  };
  const acts = {
    m: mark,
    c: () => change({ spans: [], none: false }),
    n: () => change({ spans: [], none: !of(texts[at]).none }),
    enter: () => go(isRead(texts[at]) ? (open(at) < 0 ? at + 1 : open(at)) : at),
    b: () => go(at - 1),
  };

  for (const [id, key] of [["mark", "m"], ["clear", "c"], ["none", "n"], ["next", "enter"], ["back", "b"]])
    get(id).addEventListener("click", acts[key]);
  get("mark").addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  for (const box of problems) box.addEventListener("change", () =>
    change({ problems: problems.filter((one) => one.checked).map((one) => one.dataset.problem) }));
  document.addEventListener("keydown", (event) => {
    if (!get("keys").checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const key = event.key.toLowerCase();
    if (!acts[key] || (key === "enter" && event.target.closest("button, input, summary"))) return;
    event.preventDefault();
    acts[key]();
  });
  get("download").addEventListener("click", () => {
    const rows = texts.filter(isRead).map((text) => [text.id, of(text).spans.map((span) => span.join("-")).join(" "),
      of(text).problems.join(", ")]);
    const lines = [["ID", "spans", "problem"], ...rows].map((row) => row.join("\t") + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("")], { type: "text/tab-separated-values" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  show();
})();
