"use strict";
// Copying equations gives their LaTeX.
document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.isCollapsed) return;
  const chosen = [...document.querySelectorAll(".eq")].filter((e) => selection.containsNode(e, true));
  if (!chosen.length) return;
  const copy = selection.getRangeAt(0).cloneContents();
  const left = [...copy.querySelectorAll(".eq")];
  const text = left.length ? (left.forEach((e) => e.replaceWith(`\n$$\n${e.dataset.tex}\n$$\n`)), copy.textContent) : chosen.map((e) => e.dataset.tex).join("\n");
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
});
