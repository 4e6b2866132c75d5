(() => {
  const buttons = [...document.querySelectorAll("[data-judgement]")];
  const names = buttons.map((button) => button.dataset.judgement);

  const page = judging({
    words: { text: "Row", judged: "judged", answers: "judgements" },
    isAnswer: (judgement) => names.includes(judgement),
    isComplete: (judgement) => judgement !== undefined,
    columns: ["key", "judgement"],
    cells: (key, judgement) => [key, judgement],
    draw: (row, own, judgements) => {
      get("sentence").replaceChildren(...row.pieces.map(([kind, text]) => {
        if (!kind) return text;
        const mark = document.createElement("mark");
        mark.className = kind;
        mark.textContent = text;
        return mark;
      }));
      get("question").textContent = `Does “${row.pronoun}” stand for the “${row.profession}”?`;
      const count = (name) => judgements.filter((judgement) => judgement.startsWith(name)).length;
      get("counts").textContent = names.filter((name) => !name.includes(":")).map((name) => `${count(name)} ${name}`).join(", ") + ".";
      for (const button of buttons) button.ariaPressed = String(own === button.dataset.judgement);
    },
  });

  const acts = {};
  for (const button of buttons) {
    const judge = () => {
      page.give(button.dataset.judgement);
      page.next();
    };
    button.addEventListener("click", judge);
    acts[button.getAttribute("aria-keyshortcuts")] = judge;
  }
  page.begin(acts);
})();
