(async () => {
  "use strict";
  const ROWS = 20, PAUSE = 200;
  const count = (number) => number.toLocaleString("en");
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
      const rows = [...body.rows], text = (row) => row.cells[at].textContent;
      const value = (row) => parseFloat(text(row).replaceAll(",", ""));
      const named = rows[0].cells[at].tagName === "TH" || rows.every((row) => isNaN(value(row)));
      const up = head.ariaSort ? head.ariaSort !== "ascending" : named;
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const turn = up ? 1 : -1, order = named ? (a, b) => turn * text(a).localeCompare(text(b))
        : (a, b) => isNaN(value(a)) - isNaN(value(b)) || turn * (value(a) - value(b));
      body.append(...rows.sort(order));
    });
  }

  // A long table shows its first rows until it is asked for all.
  for (const tall of document.querySelectorAll(".tall")) {
    const n = tall.querySelectorAll("tbody tr").length;
    if (n <= ROWS) continue;
    const button = node("button", "more");
    button.type = "button";
    const toggle = () => {
      const short = tall.classList.toggle("short");
      button.textContent = short ? `Show all ${count(n)} rows` : `Show the first ${ROWS} rows`;
      button.ariaExpanded = String(!short);
    };
    toggle();
    button.addEventListener("click", toggle);
    tall.after(button);
  }

  // The data: JSON in gzip in base 64. The texts stand in blocks of rows, of which the last used stay unpacked.
  const status = get("status"), form = get("filters"), list = get("list"), pagers = document.querySelectorAll(".pager");
  if (!form) return;
  if (!window.DecompressionStream) {
    status.textContent = "The list of sentences needs a newer browser (one with DecompressionStream).";
    return;
  }
  const data = JSON.parse(get("data").textContent), PAGE = Math.max(3, Math.floor(10 / data.runs.length));
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
  const runs = await Promise.all(data.runs.map(
    async (run, i) => ({ ...run, explain: data.explain?.[i], call: await unpack(run.call) })));

  // The search: case and diacritics do not count. All texts are unpacked once, when the field is first used.
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const plain = (pieces) => pieces.map((piece) => typeof piece === "string" ? piece : piece[1]).join("");
  const prepare = async () => {
    const found = [], entities = data.columns.entity?.values.map((name) => name.replace(/\s+/g, " "));
    for (let at = 0; at < data.blocks.length; at++) {
      const block = await unpack(data.blocks[at]), start = at * data.block;
      const lines = block.text.map(
        (texts, i) => [entities?.[columns.entity[start + i]], ...texts.map(plain)].join("\t"));
      for (const line of fold(lines.join("\n")).split("\n")) found.push(line);  // no text has a line end
      if (at % 8 === 7) await new Promise((done) => setTimeout(done));  // the page stays responsive
    }
    return found;
  };
  let prepared = null;
  const texts = () => prepared ??= prepare();

  // Which sentences, in which order, and which page of them.
  const outcome = (row, run) => {
    const call = run.call[row];
    if (call === null || data.outcomes) return data.outcomes?.[call] ?? "";
    if (call >= data.genders.length) return "none";
    // A gold gender beyond them is "unknown": nothing is right or wrong.
    return columns.gold[row] >= data.genders.length ? "called" : call === columns.gold[row] ? "right" : "wrong";
  };
  const wanted = async () => {
    const chosen = Object.fromEntries(new FormData(form)), run = runs[chosen.run || 0];
    const tests = Object.keys(columns).filter((name) => chosen[name]).map(
      (name) => [columns[name], Number(chosen[name])]);
    if (chosen.call) tests.push([run.call, Number(chosen.call)]);
    const differ = (row) => runs.some((other) => other.call[row] !== run.call[row]);
    const fits = !chosen.outcome ? () => true : chosen.outcome === "differ" ? differ
      : (row) => outcome(row, run) === chosen.outcome;
    const words = fold(chosen.search).split(/\s+/).filter(Boolean);
    if (words.length && !prepared) status.textContent = "Reading all sentences for the search…";
    const found = words.length ? await texts() : [];
    const groups = { wrong: [], none: [], right: [], called: [], "": [] };
    for (let row = 0; row < data.rows; row++)
      if (tests.every(([column, value]) => column[row] === value) && fits(row)
        && words.every((word) => found[row].includes(word)))
        groups[chosen.order === "wrong" ? outcome(row, run) : ""].push(row);
    return Object.values(groups).flat();
  };
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
  const described = (row, source) => {
    if (data.about) return data.about.map((name) => value(name, row));
    const n = value("pronouns", row), stereotype = value("stereotype", row);
    const about = [value("entity", row), data.persons[value("gold", row)] ?? "gender unknown",
      stereotype === "none" ? "no stereotype" : `${stereotype} stereotype`, value("domain", row),
      n === "not counted" ? "pronouns not counted" : `${n} ${n === "1" ? "pronoun" : "pronouns"}`];
    if (source.every((piece) => typeof piece === "string")) about.push("entity not found in the source");
    return about;
  };
  const cut = (text, places) => {  // places count characters as Python does
    const letters = [...text], pieces = [];
    let at = 0;
    for (const [start, end] of places) {
      if (start < at) continue;
      pieces.push(letters.slice(at, start).join(""), ["head", letters.slice(start, end).join("")]);
      at = end;
    }
    return places.length ? [...pieces, letters.slice(at).join("")] : [];
  };
  const item = async (row) => {
    const block = await blockOf(row), at = row % data.block, [source, ...targets] = block.text[at];
    const about = [block.id[at], ...described(row, source)];
    const parts = about.flatMap((part, i) => [i ? " · " : "", node("bdi", "", part)]);
    return node("li", "", node("p", "", node("small", "", ...parts)), marked("source", data.source ?? "en", "auto", source),
      ...runs.flatMap((run, i) => rendering(row, run, targets[i] ?? cut(plain(source), block.found[at][i]),
        block.evidence?.[at][i].map((place) => block.pieces[place]) ?? [], block.answer?.[at][i],
        block.how && [block.hows[block.how[at][i]], block.quoted?.[at] ?? block.id[at]])));
  };
  const folded = (name, content) => node("details", "", node("summary", "", name), content);
  const spoken = (run, word) => {
    const read = node("em", "", node("bdi", "", word));
    read.lang = run.lang;
    return read;
  };
  // How a call came about, as `steps` of sentences.html has it.
  const steps = (run, called, target, evidence, [words, code, stanza], id) => {
    const list = node("dl", "steps"), call = data.calls[called], gender = called < data.genders.length;
    const add = (name, ...parts) => list.append(node("dt", "", name), node("dd", "", ...parts));
    const word = target.find((piece) => piece[0] === "head")?.[1];
    if (word) add("word", spoken(run, word), words && `: ${words}`, code && " ", code && node("small", "", code));
    const decides = evidence.findIndex((piece) => piece[3] === call);
    evidence.forEach(([, what, word, says, shows, source, rule], i) => add(what, spoken(run, word), ": ", node("b", "", says),
      ...shows ? [" (", node("bdi", "", shows), ")"] : [], " ",
      node("small", "", "rule ", node("code", "", rule), `, from ${source}`), i === decides ? " ← the call rests on it" : ""));
    add("call", node("b", "", gender ? call : "none"), gender ? "" : `: ${call}, ${data.why[called]}`);
    if (stanza) add("Stanza alone", stanza);
    if (run.explain && target.length) add("all steps", node("code", "", `${run.explain} ${id}`));
    return folded("how it was read", list);
  };
  const rendering = (row, run, target, evidence, answer, how) => {
    const name = runs.length > 1 ? `${run.name}: ` : "", kind = outcome(row, run), call = data.calls[run.call[row]];
    if (!kind) return [node("p", "quiet", `${name}not in this run`)];
    const said = { right: `✓ right: ${call}`, wrong: `✗ wrong: ${call}`, none: `○ no call: ${call}`,
      called: `• called: ${call}` }[kind];
    const line = node("p", "", node("span", `call ${kind}`, name + said));
    evidence.forEach(([shows, what, word], i) => line.append(
      node("small", "", i ? "; " : " – ", `${what} `, spoken(run, word), `: ${shows}`)));
    const text = target.length ? marked("target", run.lang, run.dir, target) : node("p", "quiet", data.outcomes ? "(no cluster has the pronoun)" : "(no translation)");
    const read = how ? [steps(run, run.call[row], target, evidence, ...how)] : [];
    if (!answer) return [text, line, ...read];
    const whole = folded("the whole answer", node("p", "answer", answer));
    whole.lastChild.dir = "auto";
    return [text, whole, line, ...read];
  };

  let asked = 0, timer = 0;
  const choose = async () => {
    clearTimeout(timer);
    const mine = ++asked, found = await wanted();
    if (mine !== asked) return;
    rows = found;
    first = 0;
    await show();
  };
  form.addEventListener("input", ({ target }) => {
    clearTimeout(timer);
    if (target.name === "search") timer = setTimeout(choose, PAUSE);
    else choose();
  });
  form.elements.search.addEventListener("focus", texts);
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
