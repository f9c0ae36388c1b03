// Keeps what is entered: in this browser at every press, on the server a moment later, and hands items in from an outbox
// that survives a lost network, a sign-out or a crash. Has the next items ready, so that they appear at once.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form) return;
  const { user, items, ahead, following } = form.dataset;
  const plain = "plain" in form.dataset;
  const status = form.querySelector("[data-saved]");
  const where = form.querySelector("[data-where]");
  const itemNode = document.querySelector("[data-item]");
  const signIn = document.querySelector("[data-sign-in]");
  const heading = document.querySelector("h1");
  const pause = document.querySelector("[data-pause]");
  const PAUSE_AFTER = 45 * 60; // seconds of work, then a break is suggested
  const RESTED = 5 * 60_000; // ms without a sign of life that are a break
  const IDLE = 60_000; // ms without a sign of life that still count as work
  const READY = 5; // items kept ready, where there are enough for everybody

  let slot = { pk: form.dataset.slot, submitted: form.dataset.submitted === "1" };
  let active = Number(form.dataset.active) || 0;
  let known = read("defaultChecked", "defaultValue"); // as the server sent it: an answer may be older than this script
  let ready = [];
  let history_ = [];
  const pace = form.querySelector("[data-pace]");
  const recent = (pace?.dataset.recent || "").split(",").filter(Boolean).map(Number);
  let timer = 0;
  let handing = false;
  let waiting = false;
  let leaving = "";
  let wait = 1000;

  // ---------- what is on the page ----------

  function fields() {
    return [...form.querySelectorAll("[data-criterion] input, [data-criterion] textarea")].filter(
      (one) => one.name && !("fixed" in one.dataset) && !("control" in one.dataset), // a control shows what another input holds
    );
  }

  // Which version of its guideline each criterion shows: sent with every answer, and never filled in from a draft.
  function fixed() {
    return Object.fromEntries([...form.querySelectorAll("[data-fixed]")].map((one) => [one.name, one.value]));
  }

  function isEdited(versions) {
    return [...form.querySelectorAll("[data-fixed]")].some((one) => String(versions[one.dataset.fixed]) !== one.value);
  }

  function read(checked = "checked", value = "value") {
    const found = {};
    for (const one of fields()) {
      if (one.type !== "radio") found[one.name] = one[value];
      else if (one[checked] || !(one.name in found)) found[one.name] = one[checked] ? one.value : "";
    }
    return found;
  }

  function fill(answers) {
    for (const one of fields()) {
      if (!(one.name in answers)) continue;
      if (one.type === "radio") one.checked = one.value === answers[one.name];
      else one.value = answers[one.name];
    }
  }

  function say(text, problem = false) {
    if (!problem && form.querySelector("[data-missing]")) return; // what is missing stays said until it is answered
    status.textContent = text;
    status.toggleAttribute("data-problem", problem);
  }

  // ---------- this browser ----------

  const place = (name) => `concord-${user}-${name}`;
  const load = (name, otherwise) => JSON.parse(localStorage.getItem(place(name)) || "null") ?? otherwise;
  function store(name, value) {
    try {
      if (value === null || Object.keys(value).length === 0) localStorage.removeItem(place(name));
      else localStorage.setItem(place(name), JSON.stringify(value));
    } catch {
      /* no room in this browser: the server still keeps it */
    }
  }

  // ---------- the server ----------

  function token() {
    const cookie = document.cookie.split("; ").find((one) => one.startsWith("csrftoken="));
    return cookie ? cookie.slice(10) : form.querySelector("[name=csrfmiddlewaretoken]").value;
  }

  async function post(url, data) {
    const body = new URLSearchParams(data);
    const keepalive = body.toString().length < 50_000; // a browser sends no more than 64 kB behind a page that is left
    const answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token() }, keepalive });
    if (answer.status === 401 || answer.status === 403) {
      if (!signIn.open) signIn.showModal();
      return { status: 401, told: {} };
    }
    if (answer.status >= 500 || answer.status === 429) throw new Error(`the server says ${answer.status}`);
    return { status: answer.status, told: answer.headers.get("content-type")?.includes("json") ? await answer.json() : {} };
  }

  const seen = () => form.querySelector("[name=seen]").value;

  // ---------- drafts ----------

  function noted() {
    const now = read();
    const changes = load(`draft-${slot.pk}`, {});
    for (const name of Object.keys(now)) if (now[name] !== known[name]) changes[name] = now[name];
    if (JSON.stringify(now) !== JSON.stringify(known)) history_.push(known);
    known = now;
    if (waiting) return correct(); // it is handed in, and the next one has not come yet
    store(`draft-${slot.pk}`, changes);
    if (!Object.keys(changes).length) return say(gettext("Saved")); // the same answer once more
    say(gettext("Saving …"));
    clearTimeout(timer);
    timer = setTimeout(saveDraft, 400);
  }

  async function saveDraft(evenWithout = false) {
    clearTimeout(timer);
    if (handing) return;
    const pk = slot.pk;
    const changes = load(`draft-${pk}`, {});
    const sent = read();
    if (!evenWithout && !Object.keys(changes).length) return;
    try {
      const data = { ...fixed(), ...changes, seen: seen(), active: spent(), submitted: slot.submitted ? "1" : "" };
      const { status: code, told } = await post(`${items}${pk}/draft/`, data);
      if (code === 401) return say(gettext("Not saved yet: signed out. Kept in this browser."), true);
      if (code !== 200 && code !== 422) return say(fillIn(gettext("The server does not take this (%(code)s). Kept in this browser."), { code }), true);
      forget(pk, changes);
      if (pk !== slot.pk) return;
      if (told.stale && !handing && !waiting) goOn(); // handed in from another window
      else if (told.gone) say(fillIn(gettext("%(why)s Your answers are kept."), { why: told.gone }), true);
      else if (told.errors) say(Object.values(told.errors)[0], true);
      else merge(told.content || {}, sent);
    } catch {
      if (pk !== slot.pk) return;
      say(gettext("No connection. Kept in this browser, and sent when it is back."), true);
      timer = setTimeout(saveDraft, 3000);
    }
  }

  function forget(pk, sent) {
    const left = load(`draft-${pk}`, {});
    for (const name of Object.keys(sent)) if (left[name] === sent[name]) delete left[name];
    store(`draft-${pk}`, left);
  }

  // What another window has entered meanwhile, where nothing newer is waiting here or was entered since `sent`.
  function merge(content, sent) {
    const mine = load(`draft-${slot.pk}`, {});
    const now = read();
    const isOld = ([name]) => !(name in mine) && now[name] === sent[name];
    const theirs = Object.fromEntries(Object.entries(content).filter(isOld));
    const before = JSON.stringify(now);
    fill(theirs);
    known = read();
    if (before !== JSON.stringify(known)) form.dispatchEvent(new Event("rate:filled"));
    if (!Object.keys(mine).length) say(gettext("Saved"));
  }

  // ---------- handing in ----------

  form.addEventListener("rate:complete", (event) => {
    handing = plain; // then no late answer to a draft leads elsewhere
    if (slot.submitted || plain) return; // a change to an earlier item is an ordinary form, as is what precedes the work
    event.preventDefault();
    clearTimeout(timer);
    if (leaving) return say(gettext("Saving … Then the page comes anew, with what has changed."));
    if (waiting) return correct();
    putOut();
    recent.push(active);
    waiting = true;
    showReady();
    say(waiting ? gettext("Saving … The next item is on its way.") : gettext("Saving …"));
    pump();
  });

  // What is handed in waits in the outbox, and what is said of the item until it is sent replaces it there.
  function putOut() {
    const one = { pk: slot.pk, data: { ...fixed(), ...read(), seen: seen(), active: spent() } };
    const all = load("outbox", []);
    const isThere = all.some((other) => other.pk === one.pk);
    store("outbox", isThere ? all.map((other) => (other.pk === one.pk ? one : other)) : [...all, one]);
    store(`draft-${slot.pk}`, null);
  }

  function correct() {
    putOut();
    say(gettext("Saving … The next item is on its way and comes by itself."));
    pump();
  }

  let pumping = false;
  async function pump() {
    if (pumping) return;
    pumping = true;
    try {
      while (load("outbox", []).length) if (!(await sendFirst())) return;
      if (leaving) location.assign(leaving);
    } finally {
      pumping = false;
    }
  }

  async function sendFirst() {
    const one = load("outbox", [])[0];
    const held = heldNames().filter((pk) => pk !== one.pk).join(",");
    try {
      const { status: code, told } = await post(`${items}${one.pk}/save/`, { ...one.data, holding: held, total: wantsTotal() });
      if (code === 401) {
        say(gettext("Not saved yet: signed out. Kept in this browser."), true);
        return false;
      }
      wait = 1000;
      if (isCorrected(one)) return true; // meanwhile: that is sent next
      store("outbox", load("outbox", []).filter((other) => other.pk !== one.pk));
      if (code === 422) return refused(one, told);
      if (code !== 200 && code !== 409) return keepUnsent(one, code);
      const left = load("outbox", []).length;
      if (code === 409) say(fillIn(gettext("%(why)s Your answers are kept for the researcher."), { why: told.late }), true);
      else say(left ? fillIn(gettext("Saving … %(n)s more to send"), { n: left }) : gettext("Saved"));
      follow(one, told);
      if ("total" in told) tellTotal(told, code === 409 ? 1 : 0);
      return true;
    } catch {
      const kept = gettext("No connection. Your answers are kept in this browser and sent when it is back.");
      const next = gettext("No connection. Your answers are kept in this browser and sent when it is back; then the next item comes.");
      say(waiting ? next : kept, true);
      setTimeout(pump, wait);
      wait = Math.min(2 * wait, 30_000);
      return false;
    }
  }

  function isCorrected(one) {
    const now = load("outbox", []).find((other) => other.pk === one.pk);
    return now && JSON.stringify(now.data) !== JSON.stringify(one.data);
  }

  // What the server refuses for good stays in this browser, and does not keep the others from being sent.
  function keepUnsent(one, code) {
    store("unsent", [...load("unsent", []), one]);
    form.dispatchEvent(new Event("rate:unsent"));
    waiting = false;
    say(fillIn(gettext("The server does not take this item (%(code)s). Your answers are kept in this browser."), { code }), true);
    return true;
  }

  function follow(one, { next, late, versions }) {
    setReady(ready.map((item) => ({ ...item, versions }))); // a guideline may have been edited since they were fetched
    take(next);
    if (!waiting || one.pk !== slot.pk) return prefetch();
    waiting = false;
    if (!late) goOn(); // else what is said stays in view, with what was entered
  }

  // What is kept ready stays mine: the page that comes shows one of it, and it must not be freed behind that page.
  function goOn() {
    leaving = following;
    setReady([]);
    location.assign(leaving);
  }

  // What the server does not take goes back to its page, with all that was entered.
  function refused(one, told) {
    const { seen: _seen, active: _active, ...answers } = one.data;
    store(`draft-${one.pk}`, answers);
    waiting = false;
    store(`refused-${one.pk}`, told.errors || { "": gettext("This could not be saved.") });
    if (one.pk === slot.pk) showRefused();
    else location.assign(`${items}${one.pk}/`);
    return false;
  }

  // Why it did not, at the criteria that it is about.
  function showRefused() {
    const errors = load(`refused-${slot.pk}`, {});
    store(`refused-${slot.pk}`, null);
    if (!Object.keys(errors).length) return;
    say(Object.values(errors)[0], true);
    form.dispatchEvent(new CustomEvent("rate:refused", { detail: Object.keys(errors) }));
  }

  // ---------- the next item ----------

  // What is here already: shown, ready, or on its way to the server, which still takes it for work to be done.
  const heldNames = () => [...new Set([slot.pk, ...[...ready, ...load("outbox", [])].map((one) => String(one.pk))])];

  function setReady(items) {
    ready = items;
    if (ready.length) form.setAttribute("data-next-ready", ready.length);
    else form.removeAttribute("data-next-ready");
  }

  function take(next) {
    if (!next || leaving || heldNames().includes(String(next.pk))) return false;
    setReady([...ready, next]);
    showReady();
    return true;
  }

  // If the item before is handed in and the next one is there.
  function showReady() {
    if (!waiting || !ready.length) return;
    waiting = false;
    const [next, ...rest] = ready;
    setReady(rest);
    show(next, slot.pk);
  }

  function show(next, last) {
    if (isEdited(next.versions)) {
      leaving = next.url; // once all is sent; the page that comes says what has changed
      return;
    }
    slot = { pk: String(next.pk), submitted: false };
    active = next.active;
    beat = Date.now();
    itemNode.innerHTML = next.html;
    if (next.rows) form.querySelector("[data-rows]").innerHTML = next.rows;
    for (const one of document.querySelectorAll("[data-news], .messages")) one.remove(); // of the item before
    form.action = next.url;
    for (const one of document.querySelectorAll("form[data-of-item]")) one.action = `${next.url}${one.id}/`;
    const signInAgain = document.querySelector("[data-sign-in-again]");
    signInAgain.href = `${signInAgain.href.split("?")[0]}?next=${encodeURIComponent(next.url)}`;
    form.querySelector("[name=seen]").value = next.seen;
    const blank = Object.fromEntries(fields().map((one) => [one.name, ""]));
    document.activeElement?.blur();
    fill({ ...blank, ...next.answers, ...load(`draft-${slot.pk}`, {}) });
    known = read();
    history_ = [];
    const counted = where.textContent.includes("+") ? /\d+/g : /\d+/; // behind "200+" there are 200 and more as before
    where.textContent = where.textContent.replace(counted, (number) => Number(number) + 1);
    tellPace(where.textContent);
    const previous = form.querySelector("[data-previous]");
    previous.href = `${items}${last}/`;
    previous.hidden = false;
    history.pushState({ pk: slot.pk }, "", next.url);
    itemNode.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
    form.dispatchEvent(new Event("rate:item"));
    announce();
    window.scrollTo(0, 0);
  }

  // A new item is a new page to whoever does not see it: its title, what is read first, and what is said.
  function announce() {
    const [here, total] = where.textContent.split(" / ");
    const title = fillIn(gettext("Item %(here)s"), { here });
    document.title = `${title}${document.title.slice(document.title.indexOf(" · "))}`;
    heading.textContent = fillIn(gettext("Item %(here)s of %(total)s"), { here, total });
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    document.querySelector("[data-announce]").textContent = fillIn(gettext("Item %(here)s of %(total)s."), { here, total });
  }

  // Others take items too. A total that is only a lower bound ("200+") is asked for now and then, any other with each item.
  const wantsTotal = () => (!where.textContent.includes("+") || parseInt(where.textContent, 10) % 10 === 0 ? "1" : "");

  // `lost` items of those before this one went to somebody else, and count no more.
  function tellTotal({ total, more }, lost) {
    const here = parseInt(where.textContent, 10) - lost;
    where.textContent = `${here} / ${Math.max(here, total)}${more ? "+" : ""}`;
    tellPace(where.textContent);
  }

  // How fast the last twenty items went, and how many are left; nothing before there are five.
  function tellPace(text) {
    const [here, total] = text.match(/\d+/g).map(Number);
    const last = recent.slice(-20).filter((seconds) => seconds > 0);
    const hour = Math.round((3600 * last.length) / last.reduce((sum, seconds) => sum + seconds, 0));
    const n = `${Math.max(0, total - here + 1)}${text.includes("+") ? "+" : ""}`;
    const told = last.length < 5 ? gettext("%(n)s left") : gettext("About %(hour)s items an hour lately · %(n)s left");
    if (pace) pace.textContent = fillIn(told, { hour, n });
  }

  let fetching = false;
  async function prefetch() {
    if (fetching || slot.submitted || plain || leaving) return;
    fetching = true;
    try {
      while (ready.length < READY) {
        const { told } = await post(ahead, { holding: heldNames().join(",") });
        if (!take(told.next)) break;
      }
    } catch {
      /* without it the next item takes a moment longer */
    } finally {
      fetching = false;
    }
  }

  // ---------- undo, time, pause ----------

  form.addEventListener("rate:undo", () => {
    const before = history_.pop();
    const previous = form.querySelector("[data-previous]");
    if (!before) {
      if (previous && !previous.hidden) previous.click();
      return;
    }
    fill(before);
    form.dispatchEvent(new Event("rate:filled"));
    noted();
    history_.pop();
  });

  let alive = Date.now();
  let beat = Date.now();
  let told = Date.now();
  for (const kind of ["keydown", "pointermove", "pointerdown", "scroll", "wheel", "touchstart"])
    document.addEventListener(kind, () => (alive = Date.now()), { passive: true, capture: true });

  // Seconds of work since this was last asked.
  function countWork() {
    const now = Date.now();
    const passed = Math.min(now - beat, 2000) / 1000;
    beat = now;
    if (document.hidden || pause.open || now - alive > IDLE) return 0;
    active += passed;
    return passed;
  }

  function spent() {
    countWork();
    return active.toFixed(3);
  }

  setInterval(() => {
    const now = Date.now();
    const passed = countWork();
    if (now - alive > RESTED) rested();
    if (!passed) return;
    const session = Number(sessionStorage.getItem("concord-session") || 0) + passed;
    sessionStorage.setItem("concord-session", session);
    form.querySelector("[data-break]").hidden = session < PAUSE_AFTER;
    if (now - told < 240_000) return;
    told = now;
    saveDraft(true); // also keeps the item in my work while I read
  }, 1000);

  form.addEventListener("rate:pause", () => {
    saveDraft();
    pause.showModal();
  });
  pause.addEventListener("close", rested);

  function rested() {
    sessionStorage.setItem("concord-session", 0);
    form.querySelector("[data-break]").hidden = true;
  }

  // ---------- when ----------

  form.addEventListener("rate:skipped", goOn);
  form.addEventListener("input", noted);
  form.addEventListener("change", noted);
  window.addEventListener("online", () => {
    saveDraft();
    pump();
  });
  window.addEventListener("popstate", () => location.reload());
  window.addEventListener("focus", () => {
    pump();
    if (!slot.submitted) saveDraft(true); // with what another window has entered
  });
  window.addEventListener("pagehide", () => {
    if (Object.keys(load(`draft-${slot.pk}`, {})).length) saveDraft();
    const data = new FormData();
    data.set("csrfmiddlewaretoken", token());
    for (const one of ready) navigator.sendBeacon(`${items}${one.pk}/put-back/`, data);
    setReady([]);
  });
  signIn.addEventListener("close", () => {
    saveDraft();
    pump();
  });

  if (JSON.stringify(read()) !== JSON.stringify(known)) noted();
  const unsent = load(`draft-${slot.pk}`, {});
  if (Object.keys(unsent).length) {
    fill(unsent);
    known = read();
    form.dispatchEvent(new Event("rate:item"));
    saveDraft();
  }
  showRefused();
  pump();
  prefetch();
})();
