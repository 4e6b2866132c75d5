(() => {
  "use strict";
  const get = (id) => document.getElementById(id);
  const { store, file, rows } = JSON.parse(get("data").textContent);
  const buttons = [...document.querySelectorAll("[data-judgement]")];
  const names = buttons.map((button) => button.dataset.judgement);

  // Judgements by the keys of their rows. A browser may refuse to keep them: then they last as long as the page.
  let kept = true;
  const judgements = new Map();
  try {
    const saved = Object.entries(JSON.parse(localStorage.getItem(store) ?? "{}"));
    for (const [key, judgement] of saved) if (names.includes(judgement)) judgements.set(key, judgement);
  } catch { kept = false; }
  const save = () => {
    try { localStorage.setItem(store, JSON.stringify(Object.fromEntries(judgements))); } catch { kept = false; }
  };

  const judged = () => rows.filter((row) => judgements.has(row.key));
  const open = (from) => {
    const order = [...rows.keys()].map((n) => (from + n) % rows.length);
    return order.find((n) => !judgements.has(rows[n].key)) ?? -1;
  };
  let at = Math.max(open(0), 0);

  const show = () => {
    const row = rows[at], done = judged(), all = done.length === rows.length;
    get("sentence").replaceChildren(...row.pieces.map(([kind, text]) => {
      if (!kind) return text;
      const mark = document.createElement("mark");
      mark.className = kind;
      mark.textContent = text;
      return mark;
    }));
    get("question").textContent = `Does “${row.pronoun}” stand for the “${row.profession}”?`;
    get("status").textContent = `Row ${at + 1} of ${rows.length}; ${done.length} judged.`
      + (all ? " All are judged: download the judgements." : "")
      + (kept ? "" : " This browser does not keep judgements: download them before you close the page.");
    get("progress").value = done.length;
    const count = (judgement) => done.filter((one) => judgements.get(one.key).startsWith(judgement)).length;
    get("counts").textContent = names.filter((name) => !name.includes(":")).map((name) => `${count(name)} ${name}`).join(", ") + ".";
    for (const button of buttons) button.ariaPressed = String(judgements.get(row.key) === button.dataset.judgement);
    get("back").disabled = at === 0;
    get("download").disabled = done.length === 0;
  };
  const judge = (judgement) => {
    judgements.set(rows[at].key, judgement);
    save();
    const next = open(at);
    if (next >= 0) at = next;
    show();
  };
  const back = () => {
    if (at > 0) at -= 1;
    show();
  };

  for (const button of buttons) button.addEventListener("click", () => judge(button.dataset.judgement));
  get("back").addEventListener("click", back);
  document.addEventListener("keydown", (event) => {
    if (!get("keys").checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const key = event.key.toLowerCase(), button = buttons.find((one) => one.getAttribute("aria-keyshortcuts") === key);
    if (button) judge(button.dataset.judgement);
    else if (key === "b") back();
  });
  get("download").addEventListener("click", () => {
    const lines = [["key", "judgement"], ...judged().map((row) => [row.key, judgements.get(row.key)])];
    const text = lines.map((line) => line.join("\t") + "\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  show();
})();
