const page = JSON.parse(document.getElementById("page-data").textContent);
startTheme();
page.segments.forEach((data, i) => new SegmentTable(document.querySelector(`[data-table="${i}"]`), data));
if (page.overall.length) drawCurves(document.getElementById("overall-curves"), page.overall);
if (page.rounds) drawRounds(document.getElementById("rounds-chart"), page.rounds);
document.documentElement.dataset.ready = "yes";
