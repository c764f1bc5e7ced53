"use strict";
for (const element of document.querySelectorAll(".math")) {
  const tex = element.textContent;
  katex.render(tex, element, { displayMode: element.classList.contains("display"), throwOnError: false, strict: "ignore" });
  element.classList.add("done");
  element.dataset.tex = tex;
}
