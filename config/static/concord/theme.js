// Light, dark, or as the system says. Loaded before the page is drawn, so that it never flashes.
(() => {
  "use strict";
  const root = document.documentElement;
  const order = ["auto", "light", "dark"];

  function stored() {
    try {
      return localStorage.getItem("concord-theme");
    } catch {
      return null; // storage is switched off: the system's theme is used
    }
  }

  function apply(theme) {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  let theme = order.includes(stored()) ? stored() : "auto";
  apply(theme);

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const say = () => {
        button.querySelector("[data-theme-name]").textContent = theme[0].toUpperCase() + theme.slice(1);
        button.setAttribute("aria-label", `Theme: ${theme}. Change it`);
      };
      button.hidden = false;
      say();
      button.addEventListener("click", () => {
        theme = order[(order.indexOf(theme) + 1) % order.length];
        apply(theme);
        try {
          localStorage.setItem("concord-theme", theme);
        } catch {
          // the choice then lasts for this page only
        }
        say();
      });
    }
  });
})();
