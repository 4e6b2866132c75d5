"use strict";
// A page on which people judge one text at a time: it keeps the answers in the browser, goes from text to text, and
// gives the answers as a table. A page's own script draws a text and says what its keys do.

const get = (id) => document.getElementById(id);
const { store, file, texts } = JSON.parse(get("data").textContent);

// words: what a text, a judged one and the answers are called.
// isAnswer(answer): whether an answer that the browser has kept is one of this page.
// isComplete(answer): whether a text with this answer, which may be undefined, counts as judged.
// draw(text, answer, complete): show a text with its answer; `complete` are the answers of all judged texts.
// columns, cells(id, answer): the head of the table, and the cells of a line.
const judging = ({ words, isAnswer, isComplete, draw, columns, cells }) => {
  // By the ids of texts. A browser may refuse to keep them: then they last as long as the page.
  let kept = true;
  const answers = new Map();
  try {
    const saved = Object.entries(JSON.parse(localStorage.getItem(store) ?? "{}"));
    for (const [id, answer] of saved) if (isAnswer(answer)) answers.set(id, answer);
  } catch { kept = false; }
  const save = () => {
    try { localStorage.setItem(store, JSON.stringify(Object.fromEntries(answers))); } catch { kept = false; }
  };

  const answerTo = (text) => answers.get(text.id);
  const isJudged = (text) => isComplete(answerTo(text));
  const judged = () => texts.filter(isJudged);
  // The place of the next text that is not judged, from `start` on and then from the first text on; -1 if there is none.
  const open = (start) => {
    const order = [...texts.keys()].map((n) => (start + n) % texts.length);
    return order.find((n) => !isJudged(texts[n])) ?? -1;
  };
  let at = Math.max(open(0), 0);

  const show = () => {
    const complete = judged().map(answerTo), all = complete.length === texts.length;
    draw(texts[at], answerTo(texts[at]), complete);
    get("status").textContent = `${words.text} ${at + 1} of ${texts.length}; ${complete.length} ${words.judged}.`
      + (all ? ` All are ${words.judged}: download the ${words.answers}.` : "")
      + (kept ? "" : ` This browser does not keep ${words.answers}: download them before you close the page.`);
    get("progress").value = complete.length;
    get("back").disabled = at === 0;
    get("download").disabled = complete.length === 0;
  };
  const go = (place) => {
    if (place >= 0 && place < texts.length) at = place;
    show();
  };
  const back = () => go(at - 1);

  get("back").addEventListener("click", back);
  get("download").addEventListener("click", () => {
    const rows = judged().map((text) => cells(text.id, answerTo(text)));
    const lines = [columns, ...rows].map((row) => row.join("\t") + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("")], { type: "text/tab-separated-values" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });

  return {
    text: () => texts[at],
    answer: () => answerTo(texts[at]),
    give: (answer) => {
      answers.set(texts[at].id, answer);
      save();
      show();
    },
    // To a text that is not judged; where all are, to the following one if `onwards`.
    next: (onwards = false) => go(open(at) < 0 && onwards ? at + 1 : open(at)),
    // Show the first text, and let keys act, by their names in small letters.
    begin: (acts) => {
      document.addEventListener("keydown", (event) => {
        if (!get("keys").checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
        const key = event.key.toLowerCase(), act = key === "b" ? back : acts[key];
        if (!act || (key === "enter" && event.target.closest("button, input, summary"))) return;
        event.preventDefault();
        act();
      });
      show();
    },
  };
};
