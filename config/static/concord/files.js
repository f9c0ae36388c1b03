// A file that the server would refuse is named before it is sent. data-most-bytes: what a request may hold.
(() => {
  "use strict";
  const MEGABYTE = 1024 * 1024;
  const inputs = (form) => [...form.querySelectorAll("input[type=file][data-most-bytes]")];

  function tooLarge(input) {
    const most = Number(input.dataset.mostBytes);
    const names = [...input.files].filter((file) => file.size > most);
    if (!names.length) return "";
    const told = names.map((file) => `${file.name} has ${megabytes(file.size)} MB`).join("; ");
    return `${told}. At most ${Math.floor(most / MEGABYTE)} MB can be sent here. Nothing was sent. Choose a smaller file, or use the command on the server.`;
  }

  function megabytes(bytes) {
    return (Math.ceil((10 * bytes) / MEGABYTE) / 10).toLocaleString("en", { minimumFractionDigits: 1 });
  }

  // Says it where the server's own words about the field stand.
  function say(input, words) {
    const field = input.closest(".field");
    const id = `${input.id}_size`;
    document.getElementById(id)?.remove();
    const others = (input.getAttribute("aria-describedby") || "").split(" ").filter((one) => one && one !== id);
    input.setAttribute("aria-describedby", [...others, ...(words ? [id] : [])].join(" "));
    if (!others.length && !words) input.removeAttribute("aria-describedby");
    field?.classList.toggle("field--error", Boolean(words) || Boolean(field.querySelector("ul.field__error")));
    if (!words) return input.removeAttribute("aria-invalid");
    const told = Object.assign(document.createElement("p"), { className: "field__error", id, textContent: words });
    told.setAttribute("role", "alert");
    input.setAttribute("aria-invalid", "true");
    input.after(told);
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches("input[type=file][data-most-bytes]")) say(event.target, tooLarge(event.target));
  });

  document.addEventListener(
    "submit",
    (event) => {
      const wrong = inputs(event.target).filter((input) => tooLarge(input));
      for (const input of wrong) say(input, tooLarge(input));
      if (!wrong.length) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      wrong[0].focus();
    },
    true,
  );
})();
