// Numbers as they are written in the table; the same forms as _forms.py.
const THIN = "\u202f", MINUS = "\u2212";

const unsigned = {
  count: (value) => Math.round(value).toLocaleString("en-US"),
  percent: (value, digits) => (100 * value).toFixed(digits) + THIN + "%",
  sigmas: (value) => value.toFixed(1) + THIN + "σ",
  decimal: (value) => value.toFixed(4),
  change: (value) => value.toFixed(4),
};

function inForm(value, form, { digits = 1, least = 0 } = {}) {
  if (value === null || value === undefined) return "–";
  if (form === "p_value") return pValueInForm(value, least);
  const text = unsigned[form](Math.abs(value), digits);
  const isZero = !/[1-9]/.test(text);
  if (value < 0 && !isZero) return MINUS + text;
  return form === "change" && !isZero ? "+" + text : text;
}

function pValueInForm(value, least) {
  if (least && value <= least * 1.001) {
    const scale = 10 ** (1 - Math.floor(Math.log10(least)));
    return "≤ " + String(Math.ceil(least * scale - 1e-9) / scale);
  }
  if (value < 1e-4) return "< 0.0001";
  return value < 0.995 ? String(Number(value.toPrecision(2))) : "1";
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") made.className = value;
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null)); // strings become text, never markup
  return made;
}
