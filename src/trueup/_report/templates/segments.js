// A table of segments: columns of numbers in, a page of rows at a time out.
const PAGE_LENGTH = window.matchMedia("(max-width: 760px)").matches ? 10 : 25;

class SegmentTable {
  constructor(section, data) {
    this.section = section;
    this.data = data;
    this.n = data.words.length;
    this.words = data.words.map((parts) => parts.map((part) => data.parts[part]).join(" and "));
    this.sortedBy = null;
    this.descending = true;
    this.first = 0;
    this.open = this.n && data.curves[0] ? 0 : null;
    this.form = section.querySelector("form");
    this.head = section.querySelector("thead");
    this.body = section.querySelector("tbody");
    this.pager = section.querySelector(".pager");
    this.fields = [
      { title: "Segment", form: "text" }, ...data.columns,
      { title: data.choice.title, form: "choice", values: data.choice.codes, reads: data.choice.reads },
    ];
    this.makeHead();
    this.listen();
    this.choose();
  }

  makeHead() {
    const row = element("tr");
    const sort = this.form.elements.sort;
    this.fields.forEach((field, i) => {
      const button = element("button", { type: "button", title: field.reads || null }, field.title);
      button.addEventListener("click", () => this.sortBy(i));
      const kind = field.form === "text" || field.form === "choice" ? "" : "figure";
      row.append(element("th", { scope: "col", class: `${kind}${field.isExtra ? " extra" : ""}`, "aria-sort": "none" }, button));
      sort.append(element("option", { value: String(i) }, field.title));
    });
    this.head.replaceChildren(row);
  }

  listen() {
    const again = () => { this.first = 0; this.choose(); };
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", (event) => {
      if (event.target.name === "sort") this.sortBy(event.target.value === "" ? null : Number(event.target.value));
      else again();
    });
    this.pager.querySelector("[name=previous]").addEventListener("click", () => this.turn(-PAGE_LENGTH));
    this.pager.querySelector("[name=next]").addEventListener("click", () => this.turn(PAGE_LENGTH));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr.segment");
      if (row && !String(window.getSelection())) this.toggle(Number(row.dataset.place));
    });
    this.body.addEventListener("keydown", (event) => this.move(event));
    for (const link of this.section.querySelectorAll(".patterns a")) {
      link.addEventListener("click", (event) => { event.preventDefault(); this.reveal(Number(link.dataset.place)); });
    }
  }

  // Arrow keys go from row to row; Enter and space open one, as buttons do.
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(".open-segment")) return;
    const buttons = [...this.body.querySelectorAll(".open-segment")];
    const next = buttons[buttons.indexOf(event.target) + step];
    if (next) { next.focus(); event.preventDefault(); }
  }

  sortBy(field) {
    const isText = field !== null && this.fields[field].form === "text";
    const rises = field !== null && (isText || this.fields[field].form === "p_value" || this.fields[field].form === "choice");
    this.descending = field === this.sortedBy ? !this.descending : !rises;
    this.sortedBy = field;
    this.first = 0;
    this.choose();
  }

  // Which segments are shown, and in which order.
  choose() {
    const { text, choice, significant, repeats } = this.form.elements;
    const terms = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length && !this.searched) this.searched = this.words.map((words) => words.toLowerCase());
    const code = choice.value === "" ? null : Number(choice.value);
    this.chosen = [];
    for (let i = 0; i < this.n; i++) {
      if (code !== null && this.data.choice.codes[i] !== code) continue;
      if (significant.checked && this.data.significant[i] !== "1") continue;
      if (repeats && repeats.checked && this.data.repeats[i] >= 0) continue;
      if (terms.length && !terms.every((term) => this.searched[i].includes(term))) continue;
      this.chosen.push(i);
    }
    if (this.sortedBy !== null) this.order();
    this.show();
  }

  order() {
    const sign = this.descending ? -1 : 1;
    if (this.fields[this.sortedBy].form === "text") {
      const collator = new Intl.Collator("en", { numeric: true });
      this.chosen.sort((a, b) => sign * collator.compare(this.words[a], this.words[b]) || a - b);
      return;
    }
    const values = this.fields[this.sortedBy].values;
    this.chosen.sort((a, b) => {
      if (values[a] === null || values[b] === null) return (values[a] === null) - (values[b] === null) || a - b;
      return sign * (values[a] - values[b]) || a - b;
    });
  }

  show() {
    [...this.head.rows[0].cells].forEach((cell, i) => {
      const sorted = i === this.sortedBy ? (this.descending ? "descending" : "ascending") : "none";
      cell.setAttribute("aria-sort", sorted);
    });
    this.form.elements.sort.value = this.sortedBy === null ? "" : String(this.sortedBy);
    const last = Math.min(this.first + PAGE_LENGTH, this.chosen.length);
    const rows = this.chosen.slice(this.first, last).map((place) => this.row(place));
    if (!rows.length) rows.push(element("tr", {}, element("td", { colspan: String(this.fields.length) }, "No segment fits. Clear the search, or allow more.")));
    this.body.replaceChildren(...rows);
    const many = this.chosen.length.toLocaleString("en-US"), all = this.n.toLocaleString("en-US");
    this.section.querySelector(".count").textContent = this.chosen.length === this.n ? `${all} segments` : `${many} of ${all} segments`;
    this.pager.hidden = this.chosen.length <= PAGE_LENGTH;
    this.pager.querySelector(".where").textContent = `${(this.first + 1).toLocaleString("en-US")}–${last.toLocaleString("en-US")} of ${many}`;
    this.pager.querySelector("[name=previous]").disabled = this.first === 0;
    this.pager.querySelector("[name=next]").disabled = last >= this.chosen.length;
    this.showDetail();
  }

  row(place) {
    const isReal = this.data.significant[place] === "1";
    const isOpen = place === this.open;
    const button = element("button", { type: "button", class: "open-segment words", "aria-expanded": String(isOpen) }, this.words[place]);
    const repeated = this.data.repeats ? this.data.repeats[place] : -1;
    const heading = element("th", { scope: "row" }, button,
      repeated >= 0 ? element("span", { class: "repeats words" }, `repeats: ${this.words[repeated]}`) : null);
    const cells = this.data.columns.map((column) => this.cell(column, place));
    const option = this.data.choice.options[this.data.choice.codes[place]];
    cells.push(element("td", { "data-label": this.data.choice.title },
      element("span", { class: `mark mark-${option.mark}` }, option.text)));
    const kind = `segment${isReal ? "" : " noise"}${isOpen ? " open" : ""}`;
    return element("tr", { class: kind, "data-place": String(place) }, heading, ...cells);
  }

  cell(column, place) {
    const value = element("span", {}, inForm(column.values[place], column.form, column));
    if (column.low && column.low[place] !== null) {
      value.append(element("small", {}, `${inForm(column.low[place], column.form, column)} to ${inForm(column.high[place], column.form, column)}`));
    }
    if (column.form === "p_value" && this.data.significant[place] === "1") {
      value.append(element("span", { class: "beyond", title: "more than noise" }, " *"), element("span", { class: "unseen" }, " more than noise"));
    }
    return element("td", { class: `figure${column.isExtra ? " extra" : ""}`, "data-label": column.title }, value);
  }

  toggle(place) {
    this.open = this.open === place ? null : place;
    const focused = document.activeElement && document.activeElement.closest("tr.segment");
    for (const row of this.body.querySelectorAll("tr.segment")) {
      const isOpen = Number(row.dataset.place) === this.open;
      row.classList.toggle("open", isOpen);
      row.querySelector(".open-segment").setAttribute("aria-expanded", String(isOpen));
    }
    this.showDetail();
    if (focused) focused.querySelector(".open-segment").focus({ preventScroll: true });
  }

  showDetail() {
    for (const old of this.body.querySelectorAll("tr.detail")) old.remove();
    const row = this.open === null ? null : this.body.querySelector(`tr.segment[data-place="${this.open}"]`);
    if (!row) return;
    const place = element("div", { class: "curves" });
    row.after(element("tr", { class: "detail" }, element("td", { colspan: String(this.fields.length) }, place)));
    const series = this.data.curves[this.open];
    if (series) drawCurves(place, series);
    else {
      const n = Object.keys(this.data.curves).length;
      place.replaceWith(element("p", { class: "how" }, `Curves are kept for the ${n.toLocaleString("en-US")} segments that say most, and this is none of them.`));
    }
  }

  // Show a segment that is told above the table, whatever is filtered out.
  reveal(place) {
    this.form.reset();
    this.sortedBy = null;
    this.open = place;
    this.first = PAGE_LENGTH * Math.floor(place / PAGE_LENGTH);
    this.choose();
    const row = this.body.querySelector(`tr.segment[data-place="${place}"]`);
    row.querySelector(".open-segment").focus({ preventScroll: true });
    row.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  turn(step) {
    this.first += step;
    this.open = null;
    this.show();
    this.section.querySelector(".count").scrollIntoView({ block: "nearest" });
  }
}
