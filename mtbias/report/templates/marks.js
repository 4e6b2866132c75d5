(() => {
  const problems = [...document.querySelectorAll("[data-problem]")];

  // Pieces of the text between all borders, each with the class of its mark and its first character.
  const pieces = (text, spans) => {
    const characters = [...text.text], ranges = [[...text.pronoun, "other"], ...spans.map((span) => [...span, "head"])];
    const borders = [0, characters.length, ...ranges.flatMap(([start, end]) => [start, end])].sort((a, b) => a - b);
    return borders.slice(1).map((end, n) => {
      const start = borders[n], range = ranges.find(([first, last]) => first <= start && end <= last);
      return { start, text: characters.slice(start, end).join(""), kind: range?.[2] };
    }).filter((piece) => piece.text);
  };

  // The marks of a text: spans as pairs of offsets in characters, whether it has no name, and problems. A text counts
  // as read where it has a span or is said to have no name.
  const empty = { spans: [], none: false, problems: [] };
  const isRead = (marks = empty) => marks.spans.length > 0 || marks.none;
  const page = judging({
    words: { text: "Text", judged: "read", answers: "marks" },
    isAnswer: () => true,
    isComplete: isRead,
    columns: ["ID", "spans", "problem"],
    cells: (id, marks) => [id, marks.spans.map((span) => span.join("-")).join(" "), marks.problems.join(", ")],
    draw: (text, own = empty, read) => {
      get("sentence").replaceChildren(...pieces(text, own.spans).map(({ start, text: words, kind }) => {
        const element = document.createElement(kind ? "mark" : "span");
        if (kind) element.className = kind;
        element.dataset.start = start;
        element.textContent = words;
        return element;
      }));
      const characters = [...text.text], word = (span) => characters.slice(...span).join("");
      get("question").textContent = `Whom does “${word(text.pronoun)}” mean? `
        + (own.spans.length ? `Marked: ${own.spans.map(word).join(", ")}.` : own.none ? "No name." : "Nothing is marked yet.");
      get("counts").textContent = `${read.length} read, ${read.filter((marks) => marks.none).length} of them without a name.`;
      get("none").ariaPressed = String(own.none);
      for (const box of problems) box.checked = own.problems.includes(box.dataset.problem);
    },
  });
  const marks = () => page.answer() ?? empty;
  const change = (changed) => page.give({ ...marks(), ...changed });

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
    const range = selection.getRangeAt(0), characters = [...page.text().text];
    let start = offset(range.startContainer, range.startOffset), end = offset(range.endContainer, range.endOffset);
    if (start < 0 || end < 0) return;
    while (start < end && !isLetter(characters[start])) start += 1;
    while (end > start && !isLetter(characters[end - 1])) end -= 1;
    if (start === end) return;
    while (start > 0 && isLetter(characters[start - 1])) start -= 1;
    while (end < characters.length && isLetter(characters[end])) end += 1;
    const [first, last] = page.text().pronoun;
    if (start < last && first < end) return;
    const apart = marks().spans.filter(([from, to]) => end <= from || to <= start);
    selection.removeAllRanges();
    change({ spans: [...apart, [start, end]].sort((a, b) => a[0] - b[0]), none: false });
  };

  const buttons = {
    mark,
    clear: () => change({ spans: [], none: false }),
    none: () => change({ spans: [], none: !marks().none }),
    next: () => page.next(true),
  };
  const acts = {};
  for (const [id, act] of Object.entries(buttons)) {
    get(id).addEventListener("click", act);
    acts[get(id).getAttribute("aria-keyshortcuts").toLowerCase()] = act;
  }
  get("mark").addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  for (const box of problems) box.addEventListener("change", () =>
    change({ problems: problems.filter((one) => one.checked).map((one) => one.dataset.problem) }));
  page.begin(acts);
})();
