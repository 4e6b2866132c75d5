(async () => {
  "use strict";
  const PAGE = 25;
  const get = (id) => document.getElementById(id);
  const node = (tag, cls, ...children) => {
    const made = document.createElement(tag);
    if (cls) made.className = cls;
    made.append(...children);
    return made;
  };

  // The heads of the tables of entities sort them; undefined numbers stay last.
  const heads = [...document.querySelectorAll("th[data-sort]")];
  for (const head of heads) {
    const button = node("button", "sort", head.textContent);
    button.type = "button";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const at = Number(head.dataset.sort), body = head.closest("table").tBodies[0];
      const up = head.ariaSort ? head.ariaSort !== "ascending" : at === 0;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => at ? row.cells[at].dataset.value : row.cells[at].textContent;
      const order = at ? (a, b) => a - b : (a, b) => a.localeCompare(b);
      const before = (a, b) => a === "" || b === "" ? (a === "") - (b === "") : (up ? 1 : -1) * order(a, b);
      body.append(...[...body.rows].sort((a, b) => before(key(a), key(b))));
    });
  }

  // The data: JSON in gzip in base 64. The texts stand in blocks of rows, of which the last used stay unpacked.
  const status = get("status"), form = get("filters"), list = get("list"), pagers = document.querySelectorAll(".pager");
  if (!form) return;
  if (!window.DecompressionStream) {
    status.textContent = "The list of sentences needs a newer browser (one with DecompressionStream).";
    return;
  }
  const data = JSON.parse(get("data").textContent);
  const unpack = (text) => new Response(new Blob([Uint8Array.from(atob(text), (char) => char.charCodeAt(0))])
    .stream().pipeThrough(new DecompressionStream("gzip"))).json();
  let blocks = new Map();
  const blockOf = (row) => {
    const at = Math.floor(row / data.block);
    if (blocks.size > 40) blocks = new Map();
    if (!blocks.has(at)) blocks.set(at, unpack(data.blocks[at]));
    return blocks.get(at);
  };
  const columns = {};
  for (const [name, column] of Object.entries(data.columns)) columns[name] = await unpack(column.at);
  const runs = await Promise.all(data.runs.map(async (run) => ({ ...run, call: await unpack(run.call) })));

  // Which sentences, and which page of them.
  const outcome = (row, run) => {
    const call = run.call[row];
    return call === null ? "" : call >= data.genders.length ? "none" : call === columns.gold[row] ? "right" : "wrong";
  };
  const wanted = () => {
    const chosen = Object.fromEntries(new FormData(form)), run = runs[chosen.run || 0];
    const tests = Object.keys(columns).filter((name) => chosen[name]).map(
      (name) => [columns[name], Number(chosen[name])]);
    if (chosen.call) tests.push([run.call, Number(chosen.call)]);
    const differ = (row) => runs.some((other) => other.call[row] !== run.call[row]);
    const fits = !chosen.outcome ? () => true : chosen.outcome === "differ" ? differ
      : (row) => outcome(row, run) === chosen.outcome;
    const rows = [];
    for (let row = 0; row < data.rows; row++)
      if (tests.every(([column, value]) => column[row] === value) && fits(row)) rows.push(row);
    return rows;
  };
  const count = (number) => number.toLocaleString("en");
  let rows = [], first = 0, ticket = 0;
  const show = async () => {
    const mine = ++ticket, part = rows.slice(first, first + PAGE);
    const items = await Promise.all(part.map(item));
    if (mine !== ticket) return;
    list.replaceChildren(...items);
    status.textContent = `${count(rows.length)} of ${count(data.rows)} sentences` +
      (part.length ? `; here ${count(first + 1)} to ${count(first + part.length)}` : "");
    for (const pager of pagers) {
      pager.hidden = rows.length <= PAGE;
      pager.querySelector(".where").textContent =
        `page ${count(first / PAGE + 1)} of ${count(Math.ceil(rows.length / PAGE))}`;
      for (const button of pager.querySelectorAll("button"))
        button.disabled = button.dataset.step < 0 ? first === 0 : first + PAGE >= rows.length;
    }
  };

  // One sentence. Texts enter as text nodes only.
  const marked = (cls, lang, dir, pieces) => {
    const line = node("p", `text ${cls}`, ...pieces.map(
      (piece) => typeof piece === "string" ? piece : node("mark", piece[0], piece[1])));
    line.lang = lang;
    line.dir = dir;
    return line;
  };
  const value = (name, row) => data.columns[name].values[columns[name][row]];
  const item = async (row) => {
    const block = await blockOf(row), at = row % data.block, source = block.source[at];
    const n = value("pronouns", row), stereotype = value("stereotype", row);
    const about = [block.id[at], value("entity", row), `gold ${value("gold", row)}`,
      stereotype === "none" ? "no stereotype" : `${stereotype} stereotype`, value("domain", row),
      `${n} ${n === "1" ? "pronoun" : "pronouns"}`];
    if (source.every((piece) => typeof piece === "string")) about.push("entity not found in the source");
    const parts = about.flatMap((part, i) => [i ? " · " : "", node("bdi", "", part)]);
    return node("li", "", node("p", "", node("small", "", ...parts)), marked("source", "en", "ltr", source),
      ...runs.flatMap((run, i) => rendering(row, run, block.runs[i].target[at], block.runs[i].evidence[at])));
  };
  const rendering = (row, run, target, evidence) => {
    const name = runs.length > 1 ? `${run.name}: ` : "", kind = outcome(row, run), call = data.calls[run.call[row]];
    if (!kind) return [node("p", "quiet", `${name}not in this run`)];
    const said = { right: `✓ right: ${call}`, wrong: `✗ wrong: ${call}`, none: `○ no call: ${call}` }[kind];
    const line = node("p", "", node("span", `call ${kind}`, name + said));
    evidence.forEach(([what, word, gender, by, detail], i) => {
      const read = node("bdi", "", word);
      read.lang = run.lang;
      line.append(node("small", "", i ? "; " : " by ", `${what} `, read, `: ${gender || "silent"} (${by}`,
        ...(detail ? [", ", node("bdi", "", detail)] : []), ")"));
    });
    const text = target.length ? marked("target", run.lang, run.dir, target) : node("p", "quiet", "(no translation)");
    return [text, line];
  };

  const choose = () => { rows = wanted(); first = 0; return show(); };
  form.addEventListener("input", choose);
  form.addEventListener("reset", () => setTimeout(choose));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const pager of pagers) pager.addEventListener("click", async ({ target }) => {
    if (!target.dataset.step) return;
    first += PAGE * target.dataset.step;
    await show();
    list.focus();
  });
  for (const link of document.querySelectorAll('a[href="#sentences"]')) link.addEventListener("click", () => {
    form.reset();
    for (const [name, wish] of Object.entries(link.dataset)) if (form.elements[name]) form.elements[name].value = wish;
    choose();
  });
  form.hidden = false;
  await choose();
})();
