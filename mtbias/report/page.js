(async () => {
  "use strict";
  const PAGE = 25, ABSENT = 255, DIGITS =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
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

  // The data: base 85 and deflate; words by their places in a vocabulary.
  const status = get("status"), form = get("filters"), list = get("list"), pagers = document.querySelectorAll(".pager");
  if (!window.DecompressionStream) {
    status.textContent = "The list of sentences needs a newer browser (one with DecompressionStream).";
    return;
  }
  const data = JSON.parse(get("data").textContent);
  const digit = new Uint8Array(128);
  [...DIGITS].forEach((char, value) => { digit[char.charCodeAt(0)] = value; });
  const bytes = (text) => {
    const missing = (5 - text.length % 5) % 5, padded = text + "~".repeat(missing);
    const out = new DataView(new ArrayBuffer(padded.length / 5 * 4));
    for (let i = 0, at = 0; i < padded.length; at += 4) {
      let value = 0;
      for (let k = 0; k < 5; k++) value = value * 85 + digit[padded.charCodeAt(i++)];
      out.setUint32(at, value);
    }
    return out.buffer.slice(0, out.byteLength - missing);
  };
  const unpack = (text) =>
    new Response(new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
  const readWords = (buffer) => {
    let last = "";
    const coded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(buffer);
    return Array.from(coded.matchAll(/([\0-\x1b])([^\0-\x1b]*)/g), ([, same, rest]) => {
      last = last.slice(0, same.charCodeAt(0)) + rest;
      return last;
    });
  };
  const readRows = (buffer, words) => {
    const rows = [], read = new Uint8Array(buffer);
    for (let i = 0, row = ""; i < read.length;) {
      let code = read[i++];
      if (code >= 224) code = 24704 + ((code - 224) << 16 | read[i++] << 8 | read[i++]);
      else if (code >= 128) code = 128 + ((code - 128) << 8 | read[i++]);
      if (code === 0) { rows.push(row); row = ""; } else row += code < 4 ? String.fromCharCode(code) : words[code - 4];
    }
    return rows;
  };
  const reader = (stream) => {
    let words, cache = new Map();
    return async (row) => {
      const block = Math.floor(row / data.block);
      words ??= unpack(stream.words).then(readWords);
      if (cache.size > 40) cache = new Map();
      if (!cache.has(block)) cache.set(block, unpack(stream.blocks[block]).then(async (b) => readRows(b, await words)));
      return (await cache.get(block))[row % data.block];
    };
  };
  const columns = {}, id = reader(data.id), source = reader(data.source);
  for (const [name, column] of Object.entries(data.columns)) columns[name] = new Uint16Array(await unpack(column.at));
  const runs = await Promise.all(data.runs.map(async (run) => ({
    ...run, call: new Uint8Array(await unpack(run.call)), target: reader(run.target), evidence: reader(run.evidence),
  })));

  // Which sentences, and which page of them.
  const outcome = (row, run) => {
    const call = run.call[row];
    return call === ABSENT ? "" : call >= data.genders.length ? "none" : call === columns.gold[row] ? "right" : "wrong";
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
  const marked = (cls, lang, dir, text) => {
    const line = node("p", `text ${cls}`);
    line.lang = lang;
    line.dir = dir;
    for (const part of text.split(/([\x01\x02][^\x03]*\x03)/))
      line.append(part[0] === "\x01" ? node("mark", "head", part.slice(1, -1))
        : part[0] === "\x02" ? node("mark", "other", part.slice(1, -1)) : part);
    return line;
  };
  const value = (name, row) => data.columns[name].values[columns[name][row]];
  const item = async (row) => {
    const text = await source(row), n = value("pronouns", row), stereotype = value("stereotype", row);
    const about = [await id(row), value("entity", row), `gold ${value("gold", row)}`,
      stereotype === "none" ? "no stereotype" : `${stereotype} stereotype`, value("domain", row),
      `${n} ${n === "1" ? "pronoun" : "pronouns"}`];
    if (!text.includes("\x01")) about.push("entity not found in the source");
    const parts = about.flatMap((part, i) => [i ? " · " : "", node("bdi", "", part)]);
    const made = node("li", "", node("p", "", node("small", "", ...parts)));
    made.append(marked("source", "en", "ltr", text));
    for (const run of runs) made.append(...await rendering(row, run));
    return made;
  };
  const rendering = async (row, run) => {
    const name = runs.length > 1 ? `${run.name}: ` : "", kind = outcome(row, run), call = data.calls[run.call[row]];
    if (!kind) return [node("p", "quiet", `${name}not in this run`)];
    const said = { right: `✓ right: ${call}`, wrong: `✗ wrong: ${call}`, none: `○ no verdict: ${call}` }[kind];
    const verdict = node("p", "", node("span", `verdict ${kind}`, name + said));
    const pieces = (await run.evidence(row)).split("\x1e").slice(0, -1).map((piece) => piece.split("\x1f"));
    pieces.forEach(([what, gender, by, detail, word], i) => {
      const read = node("bdi", "", word);
      read.lang = run.lang;
      verdict.append(node("small", "", i ? "; " : " by ", `${what} `, read, `: ${gender || "silent"} (${by}`,
        ...(detail ? [", ", node("bdi", "", detail)] : []), ")"));
    });
    const target = await run.target(row);
    return [target ? marked("target", run.lang, run.dir, target) : node("p", "quiet", "(no translation)"), verdict];
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
