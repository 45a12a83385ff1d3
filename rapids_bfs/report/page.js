"use strict";

// Clicking a column's heading sorts by it; clicking it again reverses the order. Cells without a figure and means stay
// at the end.
function sortBy(heading) {
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  const column = [...heading.parentNode.children].indexOf(heading);
  const body = heading.closest("table").tBodies[0];
  const key = row => row.children[0].textContent === "geometric mean" ? "" : row.children[column].textContent;
  const number = text => parseFloat(text.replaceAll(",", ""));
  const compare = (a, b) => number(a) - number(b) || a.localeCompare(b);
  const rows = [...body.rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    const [noA, noB] = [a, b].map(text => text === "" || text === "-");
    if (noA || noB) return noA - noB;
    return ascending ? compare(a, b) : compare(b, a);
  });
  for (const each of heading.parentNode.children) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  body.append(...rows);
}

for (const heading of document.querySelectorAll(".figures thead th")) {
  const button = document.createElement("button");
  button.append(heading.textContent);
  button.addEventListener("click", () => sortBy(heading));
  heading.replaceChildren(button);
}

document.getElementById("save").addEventListener("click", event => {
  const text = JSON.stringify(JSON.parse(document.getElementById("comparison").textContent), null, 1);
  event.target.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
});
