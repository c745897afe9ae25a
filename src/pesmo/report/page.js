// Each figure is a block of data beside the place where it is drawn.
const config = {
  displaylogo: false, showSendToCloud: false, displayModeBar: "hover", responsive: true,
  modeBarButtonsToRemove: ["lasso2d", "select2d"],
};
for (const figure of document.querySelectorAll(".figure")) {
  const { data, layout } = JSON.parse(figure.querySelector("script").textContent);
  Plotly.newPlot(figure.querySelector("div"), data, layout, config).then(addStill);
}

// WebGL pictures come out white on paper: a still of each takes their place there.
function addStill(plot) {
  if (!plot.querySelector(".gl-container canvas")) return;
  const size = { format: "png", width: 900, height: plot.clientHeight, scale: 2 };
  Plotly.toImage(plot, size).then((source) => {
    const still = document.createElement("img");
    still.src = source;
    still.className = "still";
    still.alt = "";
    plot.parentNode.after(still);
    plot.parentNode.classList.add("live");
  });
}

// A click on a heading sorts its table; empty cells stay at the end.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = Array.from(head.parentNode.children).indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    const key = (row) => row.children[column].dataset.value ?? row.children[column].textContent;
    const rows = Array.from(body.rows).sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return down ? -order : order;
    });
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  });
}
