// What is done with an item beside answering: a flag, a mark for later, a message, one reason why nothing of it can be
// judged. The page stays as it is; without this script each is a form of its own.
(() => {
  "use strict";
  const form = document.querySelector("form[data-rate]");
  if (!form || "plain" in form.dataset) return;
  const status = form.querySelector("[data-saved]");
  const dialog = document.querySelector("[data-decline]");
  const reason = document.getElementById("decline-all");
  const thread = () => document.querySelector("[data-item] [data-thread]");
  const button = (act) => form.querySelector(`[data-act="${act}"]`);
  const WORDS = { flag: gettext("flagged"), later: gettext("marked for later") };

  function say(text, problem = false) {
    status.textContent = text;
    status.toggleAttribute("data-problem", problem);
  }

  // What the server says of an act; null where it cannot be reached.
  async function send(url, data) {
    const token = document.cookie.split("; ").find((one) => one.startsWith("csrftoken="))?.slice(10);
    const body = new URLSearchParams({ csrfmiddlewaretoken: token || form.querySelector("[name=csrfmiddlewaretoken]").value, ...data });
    try {
      const answer = await fetch(url, { method: "POST", body, headers: { "X-Quick": "1" }, redirect: "manual" });
      if (answer.ok) return { ok: true, text: await answer.text() };
      return { ok: false, text: answer.status === 422 ? await answer.text() : gettext("This was not saved: sign in again, or load the page anew.") };
    } catch {
      return { ok: false, text: gettext("No connection. This was not saved; try again when it is back.") };
    }
  }

  async function act(kind) {
    const here = thread();
    const one = button(kind);
    if (!here || !one) return;
    const isOn = one.getAttribute("aria-pressed") === "true";
    const { ok, text } = await send(document.getElementById(kind).action, isOn ? { off: "1" } : {});
    say(text, !ok);
    if (!ok || here !== thread()) return;
    here.toggleAttribute(kind === "flag" ? "data-flagged" : "data-later", !isOn);
    show();
  }

  // Buttons and the line beside the thread, as the item is.
  function show() {
    const here = thread();
    const states = { flag: here?.hasAttribute("data-flagged"), later: here?.hasAttribute("data-later") };
    for (const [kind, isOn] of Object.entries(states)) button(kind)?.setAttribute("aria-pressed", Boolean(isOn));
    const note = here?.querySelector("[data-thread-note]");
    if (note) note.textContent = Object.keys(WORDS).filter((kind) => states[kind]).map((kind) => WORDS[kind]).join(", ");
  }

  // The page stays, with what is entered, until the server has put the item off.
  let skipping = false;
  async function skip(url) {
    if (skipping) return;
    skipping = true;
    const { ok, text } = await send(url, {});
    skipping = ok;
    if (ok) form.dispatchEvent(new Event("rate:skipped"));
    else say(text, true);
  }

  async function write(event) {
    event.preventDefault();
    const written = event.target;
    const field = written.querySelector("textarea");
    const text = field.value.trim();
    if (!text) return;
    const { ok, text: told } = await send(written.action, { text });
    say(told, !ok);
    if (!ok) return;
    field.value = "";
    const entry = document.createElement("li");
    const who = document.createElement("span");
    who.className = "small quiet";
    who.textContent = gettext("You, just now");
    const said = document.createElement("p");
    said.className = "prewrap";
    said.dir = "auto";
    said.textContent = text;
    entry.append(who, said);
    written.closest("[data-thread]").querySelector("[data-thread-entries]").append(entry);
    document.activeElement?.blur(); // Enter submits the item again
  }

  // All that is asked gets the same reason, and the item is handed in as any other.
  function decline() {
    for (const criterion of form.querySelectorAll("[data-criterion]")) {
      const field = criterion.querySelector("[data-unscored] input");
      field.value = reason.value.trim();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    reason.value = "";
    form.requestSubmit();
  }

  form.addEventListener("click", (event) => event.detail && event.target.closest("[data-act]")?.blur());
  form.addEventListener("rate:act", (event) => act(event.detail));
  form.addEventListener("rate:message", () => {
    thread().open = true;
    thread().querySelector("textarea").focus();
  });
  form.addEventListener("rate:decline", () => {
    dialog.showModal();
    reason.focus();
  });
  form.addEventListener("rate:item", show);
  dialog.querySelector("[data-decline-close]").addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!reason.value.trim()) return;
    dialog.close();
    decline();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-item] [data-message]")) write(event);
    if (!["flag", "later", "skip"].includes(event.target.id)) return;
    event.preventDefault();
    if (event.target.id === "skip") skip(event.target.action);
    else act(event.target.id);
  });
})();
