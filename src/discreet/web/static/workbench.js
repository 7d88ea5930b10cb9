// The workbench in the browser: pictures, fields that belong together, and work that is watched. No eval, nothing from elsewhere.
"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const brighter = { "#0072b2": "#56b4e9", "#005a94": "#7cc4f5" };
  const swapped = (text) => { // in the dark greys trade places: black becomes the ink, white the page
    if (brighter[text]) return brighter[text];
    const found = /^#(..)(..)(..)$/.exec(text);
    if (!found || found[1] !== found[2] || found[2] !== found[3]) return text;
    const level = Math.round(242 - parseInt(found[1], 16) * (242 - 23) / 255).toString(16).padStart(2, "0");
    return `#${level}${level}${level}`;
  };
  const recoloured = (part) => Array.isArray(part) ? part.map(recoloured)
    : part && typeof part === "object" ? Object.fromEntries(Object.entries(part).map(([k, v]) => [k, k === "values" ? v : recoloured(v)]))
    : typeof part === "string" ? swapped(part) : part;

  const once = (root, chosen, act) => { // whatever is shown anew is made ready, and nothing twice
    for (const part of root.querySelectorAll(chosen)) {
      if (part.dataset.ready) continue;
      part.dataset.ready = "yes";
      act(part);
    }
  };

  async function draw(place) {
    const answer = await fetch(place.dataset.figure);
    if (!answer.ok) return;
    let specification = await answer.json();
    const ink = getComputedStyle(document.body).color;
    const text = { labelColor: ink, titleColor: ink };
    specification = dark.matches ? recoloured(specification) : specification;
    delete specification.title; // the heading above it says the same
    specification.background = "transparent";
    specification.config = { ...specification.config, font: "system-ui, sans-serif", axis: { ...specification.config.axis, ...text }, legend: { ...specification.config.legend, ...text }, header: text, title: { ...specification.config.title, color: ink, subtitleColor: ink }, text: { ...specification.config.text, color: ink }, mark: { tooltip: true } };
    const room = place.clientWidth;
    if (specification.hconcat && room < 800) { // side by side only where there is room for both
      specification.vconcat = specification.hconcat;
      delete specification.hconcat;
      for (const part of specification.vconcat) if (typeof part.width === "number") part.width = Math.min(part.width, Math.max(230, room - 80));
    }
    if (typeof specification.width === "number" && room < specification.width + 150) {
      specification.width = Math.max(230, room - 150);
      if (room < 560) { specification.width = Math.max(230, room - 80); specification.config.legend = { ...specification.config.legend, orient: "bottom", columns: room < 420 ? 1 : 2 }; }
    }
    const { spec } = vegaLite.compile(specification);
    const view = new vega.View(vega.parse(spec, {}, { ast: true }), { expr: vega.expressionInterpreter, renderer: "svg", container: place, hover: true });
    await view.runAsync();
    const svg = place.querySelector("svg");
    if (svg) { svg.setAttribute("aria-hidden", "true"); }
  }

  function together(form) {
    for (const part of form.querySelectorAll("[data-when]")) {
      const [name, ...values] = part.dataset.when.split(" ");
      const field = form.elements[name];
      part.hidden = field && !values.includes(field.value);
    }
    const from = form.elements.from; // who says that the prior was learned sees it at once
    if (from && from.value && form.elements.prior.value === "release" && !form.elements.learned.value && !from.dataset.asked) {
      from.dataset.asked = "yes";
      htmx.trigger(from, "wanted");
    }
  }

  function watch(place) {
    const events = [];
    const source = new EventSource(place.dataset.events);
    const found = place.querySelector(".found"), proved = place.querySelector(".proved"), words = place.querySelector(".stage");
    const sign = place.dataset.losses === "yes" ? -1 : 1;
    source.onmessage = (message) => {
      const event = JSON.parse(message.data);
      if (words) words.textContent = `${event.stage}, ${event.seconds.toFixed(1)} s`;
      if (!found || event.value === null || event.bound === null) return;
      events.push({ at: event.seconds, value: sign * event.value, bound: sign * event.bound });
      const best = events[events.length - 1];
      place.querySelector("[data-number=found]").textContent = best.value.toPrecision(6);
      place.querySelector("[data-number=proved]").textContent = best.bound.toPrecision(6);
      place.querySelector("[data-number=gap]").textContent = `${(100 * Math.abs(best.value - best.bound) / Math.max(1e-12, Math.abs(best.value))).toPrecision(2)} %`;
      const shown = events.slice(-120), last = shown[shown.length - 1];
      const width = Math.max(4 * Math.abs(last.value - last.bound), 0.05 * Math.abs(last.value), 1e-9);
      const middle = (last.value + last.bound) / 2;
      const y = (v) => Math.min(157, Math.max(3, 80 - 150 * (v - middle) / width / 2));
      const path = (key) => shown.map((e, i) => `${i ? "L" : "M"}${(600 * (i + 1) / shown.length).toFixed(1)},${y(e[key]).toFixed(1)}`).join("");
      found.setAttribute("d", path("value"));
      proved.setAttribute("d", path("bound"));
    };
    source.addEventListener("ended", () => {
      source.close();
      htmx.ajax("GET", location.href, { target: "main", select: "main", swap: "outerHTML" });
    });
  }

  let lastMoved = null; // the field of a frontier that was used last: what it asks is asked again when points are added
  let following = null, solved = 0;
  function follow(place) {
    solved = Number(place.dataset.solved);
    if (following) return;
    following = new EventSource(place.dataset.follow);
    const renew = () => {
      const whole = !document.getElementById("moves");
      htmx.ajax("GET", location.href, { target: whole ? "main" : "#curve", select: whole ? "main" : "#curve", swap: "outerHTML" });
      if (!whole && lastMoved && lastMoved.isConnected) htmx.trigger(lastMoved, "refined");
    };
    following.onmessage = (message) => {
      const now = JSON.parse(message.data).solved;
      if (now !== solved) { solved = now; renew(); }
    };
    following.addEventListener("ended", () => { following.close(); following = null; renew(); });
  }

  function ready() {
    once(document, "[data-figure]", (place) => draw(place).catch(() => { place.hidden = true; }));
    once(document, "form[data-together]", (form) => { together(form); form.addEventListener("input", () => together(form)); });
    once(document, "[data-events]", watch);
    once(document, "[data-follow]", follow);
    once(document, "#moves input", (field) => field.addEventListener("input", () => {
      lastMoved = field; // and where one stands is in the address, so that it can be shared
      history.replaceState(history.state, "", field.value ? `?${field.name}=${encodeURIComponent(field.value)}` : location.pathname);
    }));
    once(document, "#cells", (form) => { // what was chosen stays chosen while one searches, sorts and turns pages
      const chosen = document.getElementById("chosen"), count = document.getElementById("count");
      const kept = (place) => chosen.querySelector(`input[value="${place}"]`);
      const tell = () => { count.textContent = chosen.children.length ? `${chosen.children.length} chosen;` : ""; };
      for (const box of form.querySelectorAll("input[name=cell]")) box.checked = box.checked || kept(box.value) !== null;
      form.addEventListener("change", (event) => {
        const box = event.target;
        if (box.name !== "cell") return;
        const old = kept(box.value);
        if (old) old.remove();
        if (box.checked) {
          const input = document.createElement("input");
          input.type = "hidden"; input.name = "cell"; input.value = box.value; input.setAttribute("form", "cells");
          chosen.append(input);
        }
        tell();
      });
      tell();
    });
    once(document, "input[type=file][data-into]", (field) => field.addEventListener("change", async () => {
      const into = document.getElementById(field.dataset.into);
      if (field.files[0] && field.files[0].size < 900000) { into.value = await field.files[0].text(); into.dispatchEvent(new Event("input", { bubbles: true })); }
    }));
    once(document, "form[data-fields]", (form) => form.addEventListener("input", (event) => {
      const written = document.getElementById("written");
      if (event.target.id === "toml") written.value = "toml";
      else if (event.target.closest("fieldset")) written.value = "fields";
    }));
    for (const slider of document.querySelectorAll("input[type=range][data-shown]")) {
      slider.oninput = () => { document.getElementById(slider.dataset.shown).textContent = slider.value; };
    }
  }
  document.addEventListener("DOMContentLoaded", ready);
  document.addEventListener("htmx:afterSwap", (event) => {
    ready();
    const place = event.detail.target; // none when the browser goes back
    if (place && place.id === "learned") place.dispatchEvent(new Event("change", { bubbles: true }));
  });
  dark.addEventListener("change", () => { for (const place of document.querySelectorAll("[data-figure]")) { delete place.dataset.ready; place.textContent = ""; } ready(); });
})();
