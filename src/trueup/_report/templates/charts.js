// Charts: a specification that came with the page, filled with data. No expression is ever compiled to code.
function draw(place, kind, datasets) {
  const specification = { ...page.charts[kind], datasets };
  return vegaEmbed(place, specification, { ast: true, actions: false, renderer: "svg", mode: "vega-lite" });
}

function reliabilityData(series) {
  const points = series.flatMap((one) =>
    one.score.map((score, i) => ({
      role: one.role, name: one.name, score, rate: one.rate[i], low: one.low[i], high: one.high[i],
    })));
  const reach = Math.max(...points.map((point) => Math.max(point.score, point.rate)));
  return { reliability: points, diagonal: [{ score: 0, rate: 0 }, { score: reach, rate: reach }] };
}

function cumulativeData(series) {
  const path = series.flatMap((one) =>
    one.share.map((share, i) => ({ role: one.role, name: one.name, share, difference: one.difference[i] })));
  const extremes = series.flatMap((one) =>
    one.extremes.map((i) => ({ role: one.role, name: one.name, share: one.share[i], difference: one.difference[i] })));
  const ranges = series.map((one, i) => {
    const [low, high] = one.extremes.map((place) => one.difference[place]);
    const middle = (low + high) / 2;
    return {
      role: one.role, name: one.name, share: 1.04 + 0.045 * i, low, high, ecce: one.ecce, noise: one.noise,
      noiseLow: middle - one.noise / 2, noiseHigh: middle + one.noise / 2, zero: 0,
    };
  });
  return { cumulative: path, extremes, ranges };
}

function figure(title, reads) {
  const place = element("div", { class: "chart" });
  return [element("figure", {}, element("figcaption", {}, element("b", {}, title), element("small", {}, reads)), place), place];
}

// The two charts of some rows, and a key if there are two sets of scores.
function drawCurves(container, series) {
  const told = series.map((one) => `${series.length > 1 ? one.name + " " : ""}${inForm(one.ecceSigma, "sigmas")}`).join(", ");
  const [reliability, first] = figure("Predicted and observed", "On the dotted diagonal the scores are true; above it they are too low, below it too high.");
  const [cumulative, second] = figure("Error, added up", `How far the line swings is the ECCE: ${told}. At the right, it sticks out of the grey bar if noise alone would hardly do that.`);
  const keys = series.length < 2 ? null
    : element("p", { class: "keys" }, ...series.map((one) => element("span", { class: `key key-${one.role} words` }, one.name)));
  container.replaceChildren(...[keys, reliability, cumulative].filter(Boolean));
  return Promise.all([
    draw(first, "reliability", reliabilityData(series)), draw(second, "cumulative", cumulativeData(series)),
  ]).then(() => { container.dataset.drawn = "yes"; });
}

function drawRounds(place, rounds) {
  return draw(place, "rounds", { rounds: rounds.points, kept: [{ number: rounds.kept }] });
}
