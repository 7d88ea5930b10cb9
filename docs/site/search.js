// Search without a server and without a network: INDEX comes with the page (index.js), so it works from a folder too.
// A word of the question counts where it begins a word of a title (most), of a heading, of the text; rare words count more.
(() => {
  const box = document.querySelector(".ask"), place = document.querySelector(".answers"), root = document.body.dataset.root;
  const IDLE = new Set(("a an and are as at be by can do does for from get have how i if in is it its me my not of on or our so that the their "
    + "there this to us use was we what when where which who why will with without you your").split(" "));
  const SAME = { epsilon: "ε", eps: "ε", rho: "ρ", delta: "δ", salary: "income", salaries: "income", wages: "income", count: "number", dataset: "table",
    install: "start", begin: "start", started: "start", fail: "crash", failed: "crash", died: "crash", stopped: "crash", key: "keys", rotate: "rotating", family: "couples",
    spouse: "couples", correlated: "couples", sum: "totals", total: "totals", add: "totals", error: "wrong", mistake: "wrong" };
  const split = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  const stem = (word) => (word.length > 4 ? word.replace(/(ing|ies|es|s|ed|ly)$/u, "") : word);
  const ready = INDEX.map((e) => ({ ...e, T: split(e.t).map(stem), H: split(e.h).map(stem), X: split(e.x).map(stem) }));
  const known = new Map();
  for (const e of ready) for (const w of new Set([...e.T, ...e.H, ...e.X])) known.set(w, (known.get(w) || 0) + 1);
  const begins = (words, asked) => words.reduce((n, w) => n + (w === asked ? 1 : w.startsWith(asked) && asked.length > 2 ? 0.6 : 0), 0);
  window.find = (question) => {
    const asked = [...new Set(split(question).filter((w) => !IDLE.has(w)))];
    if (!asked.length) return [];
    const words = asked.map((w) => [stem(w), ...(SAME[w] ? [stem(SAME[w])] : [])]);
    const rare = (w) => Math.log(1 + ready.length / (1 + (known.get(w) || 0)));
    return ready
      .map((e) => {
        let score = 0, met = 0;
        for (const ways of words) {
          const best = Math.max(...ways.map((w, i) => rare(w) * (i ? 0.8 : 1)
            * (6 * Math.min(1, begins(e.T, w)) + 5 * Math.min(1, begins(e.H, w)) + Math.min(2.5, Math.log2(1 + begins(e.X, w))))));
          score += best;
          met += best > 0;
        }
        return { e, score: (score * (met / words.length) * e.w) / (1 + 0.02 * Math.log(1 + e.X.length)) };
      })
      .filter((r) => r.score > 0)
      .sort((a, b) => b.score - a.score)
      .filter((r, i, all) => all.findIndex((s) => s.e.u.split("#")[0] === r.e.u.split("#")[0]) === i)
      .slice(0, 8)
      .map((r) => r.e);
  };
  const text = (tag, words) => Object.assign(document.createElement(tag), { textContent: words });
  const show = () => {
    const found = window.find(box.value);
    place.hidden = !box.value.trim();
    const list = document.createElement("ol");
    for (const e of found) {
      const link = Object.assign(document.createElement("a"), { href: root + e.u });
      link.append(text("strong", e.h === e.t ? e.t : `${e.t}: ${e.h}`), " ", text("span", e.s), text("em", e.x.slice(0, 160)));
      const line = document.createElement("li");
      line.append(link);
      list.append(line);
    }
    place.replaceChildren(found.length ? list : text("p", "Nothing was found. Try other words, or look through the pages."));
  };
  box.addEventListener("input", show);
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = place.querySelector("a");
    if (first) location.href = first.href;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { place.hidden = true; }
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
  });
  const asked = new URLSearchParams(location.search).get("ask");
  if (asked) { box.value = asked; show(); }
})();
