"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dashes = [null, "7 3", "2 3", "9 3 2 3"];
  const shapes = ["m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0", "m-3-3h6v6h-6z", "m-3.5 3h7l-3.5-6.5z", "m-4 0l4-4l4 4l-4 4z"];
  /** Which mark and dashes a series has: others each time that the colours begin anew. */
  const look = i => (i + Math.floor(i / 8)) % 4;
  const short = x => String(+x.toPrecision(6));
  const number = x => x !== 0 && (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4) ? d3.format(".2~e")(x) : short(x);
  /** Three digits, as the text has them. */
  function three(p) {
    if (p === 0 || p >= 1e-4) return String(+p.toPrecision(3));
    const [digits, exponent] = (+p.toPrecision(3)).toExponential().split("e-");
    return `${digits}e-${exponent.padStart(2, "0")}`;
  }
  const signed = x => d3.format("+.4f")(x).replace("\u2212", "-");
  const width = 640, left = 96, right = 24, top = 12, bottom = 312;

  /** Ticks, grid lines and labels of a plot. */
  /** `hint`: what of the label under the picture is not for print. */
  function axes(svg, x, y, labels, horizontal, hint = "") {
    /** Of a logarithmic scale 1, 2 and 5 times powers of ten, or these powers alone; where one of them is all there is, as if it were none. */
    const ticks = (scale, n) => {
      if (!scale.base) return scale.ticks(n);
      const [low, high] = scale.domain().map(Math.log10), found = [];
      for (let decade = Math.floor(low); decade <= high; ++decade)
        for (const k of high - low > 2.5 ? [1] : [1, 2, 5])
          if (Math.log10(k) + decade >= low - 1e-9 && Math.log10(k) + decade <= high + 1e-9) found.push(k * 10 ** decade);
      return found.length > 1 ? found : d3.ticks(...scale.domain(), 4);
    };
    for (const v of ticks(y, 6)) {
      svg.append("path").attr("class", "grid").attr("d", `M${left} ${y(v)}H${width - right}`);
      svg.append("text").attr("x", left - 6).attr("y", y(v) + 4).attr("text-anchor", "end").text(number(v));
    }
    if (horizontal)
      for (const v of ticks(x, 8)) {
        svg.append("path").attr("class", "axis").attr("d", `M${x(v)} ${bottom}v4`);
        svg.append("text").attr("x", x(v)).attr("y", bottom + 18).attr("text-anchor", "middle").text(number(v));
      }
    svg.append("path").attr("class", "axis").attr("d", `M${left} ${top}V${bottom}H${width - right}`);
    svg.append("text").attr("x", (left + width - right) / 2).attr("y", bottom + 44).attr("text-anchor", "middle").text(labels[0])
      .append("tspan").attr("class", "hint").text(hint);
    svg.append("text").attr("transform", `translate(17 ${(top + bottom) / 2}) rotate(-90)`).attr("text-anchor", "middle").text(labels[1]);
  }

  function scale(side, values, range) {
    let [low, high] = d3.extent(values);
    if (side.log) {
      if (high / low < 1.001) [low, high] = [low / 3, high * 3];
      const room = (high / low) ** 0.05;
      return d3.scaleLog().domain([low / room, high * room]).range(range);
    }
    const room = high > low ? 0.05 * (high - low) : Math.max(Math.abs(high) / 2, 1e-3);
    return d3.scaleLinear().domain([low - room, high + room]).range(range);
  }

  /** Lines that can be switched off; the point nearest to the pointer is said. */
  function lines(figure, chart) {
    figure.selectAll("svg, .legend").remove();
    const hidden = new Set();
    const svg = figure.append("svg").attr("viewBox", `0 0 ${width} ${bottom + 54}`).attr("role", "img");
    const legend = figure.append("ul").attr("class", "legend");
    const says = figure.append("p").attr("class", "says").attr("aria-live", "polite");
    const fits = p => isFinite(p[0]) && isFinite(p[1]) && !(chart.x.log && p[0] <= 0) && !(chart.y.log && p[1] <= 0);
    const nodes = chart.series.flatMap((s, i) => s.points.filter(fits)
      .map(p => ({x: p[0], y: p[1], name: p[2] || s.name, low: p[3], high: p[4], bar: p.length > 3, series: i})));
    /** As offset_of of eval/chart.cpp. */
    const count = chart.series.length, step = nodes.some(n => n.bar) ? Math.min(8, 32 / count) : 0;
    const offset = i => step * (i - (count - 1) / 2);
    function draw() {
      svg.selectAll("*").remove();
      svg.append("title").text(chart.title);
      const shown = nodes.filter(n => !hidden.has(n.series));
      const used = shown.length ? shown : nodes;
      const x = scale(chart.x, used.map(n => n.x).concat(chart.x.covers), [left, width - right]);
      const y = scale(chart.y, used.flatMap(n => n.bar ? [n.y, n.low, n.high] : [n.y]).concat(chart.y.covers), [bottom, top]);
      axes(svg, x, y, [chart.x.label, chart.y.label], true);
      chart.series.forEach((s, i) => {
        const points = shown.filter(n => n.series === i);
        if (s.line && points.length)
          svg.append("path").attr("class", `line s${i % 8}`).attr("stroke-dasharray", dashes[look(i)])
            .attr("d", d3.line().x(n => x(n.x) + offset(i)).y(n => y(n.y))(points));
        for (const n of points.filter(n => n.bar))
          svg.append("path").attr("class", `error s${i % 8}`).attr("d", `M${x(n.x) + offset(i) - 3} ${y(n.low)}h6m-3 0V${y(n.high)}m-3 0h6`);
        if (s.marks)
          for (const n of points)
            svg.append("path").attr("class", `mark s${i % 8}`).attr("d", `M${x(n.x) + offset(i)} ${y(n.y)}${shapes[look(i)]}`);
      });
      const pick = svg.append("circle").attr("class", "pick").attr("r", 7).attr("visibility", "hidden");
      svg.on("mousemove touchstart", () => {
        const at = d3.mouse(svg.node());
        let best = null, near = Infinity;
        for (const n of shown) {
          const d = Math.hypot(x(n.x) + offset(n.series) - at[0], y(n.y) - at[1]);
          if (d < near) [best, near] = [n, d];
        }
        if (!best) return;
        pick.attr("cx", x(best.x) + offset(best.series)).attr("cy", y(best.y)).attr("visibility", "visible");
        says.text(`${best.name}: ${chart.x.label} ${number(best.x)}, ${chart.y.label} ${number(best.y)}` +
          (best.bar ? ` [${number(best.low)}, ${number(best.high)}]` : ""));
      });
    }
    if (count > 1) chart.series.forEach((s, i) => {
      const button = legend.append("li").append("button").attr("type", "button").attr("aria-pressed", "true");
      const key = button.append("svg").attr("viewBox", "0 0 30 12").attr("aria-hidden", "true");
      if (s.line) key.append("path").attr("class", `line s${i % 8}`).attr("stroke-dasharray", dashes[look(i)]).attr("d", "M0 6h28");
      if (s.marks) key.append("path").attr("class", `s${i % 8}`).attr("d", `M14 6${shapes[look(i)]}`);
      button.append("span").text(" " + s.name);
      button.on("click", () => {
        if (!hidden.delete(i)) hidden.add(i);
        button.attr("aria-pressed", String(!hidden.has(i)));
        draw();
      });
    });
    draw();
  }

  function unpacked(text, low, high) {
    const bytes = atob(text), values = new Float64Array(bytes.length / 2);
    for (let i = 0; i < values.length; ++i)
      values[i] = low + (high - low) * (bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1)) / 65535;
    return values;
  }

  function choice(to, label, names, chosen, changed) {
    const select = to.append("label").text(label).append("select").attr("data-choice", label);
    select.selectAll("option").data(names).enter().append("option").attr("value", (_, i) => i).text(d => d);
    select.property("value", chosen).on("change", () => changed(+select.property("value")));
    return select;
  }

  /** Any system against any other by any measure: all queries, those most won and lost, one with its documents. */
  function queries(section, part) {
    const folds = part.folds.flatMap(([name, n]) => Array(n).fill(name));
    const unpackedValues = new Map();
    const values = (m, s) => {
      const key = m * part.systems.length + s, of = part.measures[m];
      if (!unpackedValues.has(key)) unpackedValues.set(key, unpacked(of.values[s], of.low, of.high));
      return unpackedValues.get(key);
    };
    const now = {system: part.system, baseline: part.baseline, measure: part.measure, query: null};
    section.attr("hidden", null);
    document.querySelectorAll("details[open]").forEach(d => { d.open = false; });  // what is shown here
    section.append("h3").text("Any system against any other");
    const choices = section.append("div").attr("class", "choices");
    choice(choices, "system", part.systems, now.system, i => { now.system = i; draw(); });
    choice(choices, "against", part.systems, now.baseline, i => { now.baseline = i; draw(); });
    choice(choices, "measure", part.measures.map(m => m.name), now.measure, i => { now.measure = i; draw(); });
    const wanted = choices.append("label").text("query").append("input").attr("type", "search").attr("autocomplete", "off");
    wanted.on("change", () => {
      const found = part.qids.indexOf(wanted.property("value").trim());
      if (found >= 0) show(found);
      else says.text(`There is no query ${wanted.property("value")}.`);
    });
    const summary = section.append("p").attr("class", "summary");
    const figure = section.append("figure");
    const svg = figure.append("svg").attr("viewBox", `0 0 ${width} ${bottom + 54}`).attr("role", "img").attr("tabindex", 0);
    const says = section.append("p").attr("class", "says").attr("aria-live", "polite");
    const lists = section.append("div").attr("class", "columns");
    const one = section.append("div").attr("class", "query");
    let order = [], differences = null, place = 0;

    function table(to, caption, head, rows) {
      const made = to.append("div").attr("class", "scroll").append("table");
      made.append("caption").text(caption);
      made.append("thead").append("tr").selectAll("th").data(head).enter().append("th").attr("scope", "col").text(d => d);
      const lines = made.append("tbody").selectAll("tr").data(rows).enter().append("tr");
      return lines;
    }

    function list(caption, picked) {
      if (!picked.length) return;
      const rows = table(lists.append("div"), caption, ["query", "fold", "difference"], picked);
      rows.append("td").append("button").attr("type", "button").text(i => part.qids[i]).on("click", i => show(i));
      rows.append("td").text(i => folds[i]);
      rows.append("td").attr("class", "n").text(i => signed(differences[i]));
    }

    function show(i) {
      now.query = i;
      one.selectAll("*").remove();
      place = order.indexOf(i);
      pick();
      const measure = part.measures[now.measure].name;
      one.append("h4").text(`Query ${part.qids[i]} (${folds[i]})`);
      one.append("p").text(part.systems.map((s, k) => `${s}: ${values(now.measure, k)[i].toFixed(4)}`).join("; ") + ` (${measure})`);
      const known = part.documents[i];
      if (!known || !known[2][now.system] || !known[2][now.baseline]) {
        one.append("p").text(known ? "The ranking of one of the two systems is missing." : "The documents of this query are not in this page.");
        return;
      }
      const [ids, labels, ranks] = known, mine = ranks[now.system], theirs = ranks[now.baseline], depth = 10;
      const documents = d3.range(ids.length).filter(d => mine[d] <= depth || theirs[d] <= depth).sort((a, b) => mine[a] - mine[b]);
      const rows = table(one, `The first ${depth} of either ranking`,
        [part.systems[now.system], part.systems[now.baseline], "label", "document"], documents);
      rows.append("td").attr("class", "n").text(d => mine[d]);
      rows.append("td").attr("class", "n").text(d => theirs[d]);
      rows.append("td").attr("class", "n").text(d => labels[d]);
      rows.append("td").text(d => ids[d]);
      showRules(i);
    }

    /** The rules behind scores of the query, of both systems; one sentence where this page has none. */
    function showRules(i) {
      const found = part.rules[i] || [];
      for (const s of new Set([now.system, now.baseline])) {
        const keys = found.filter(([of]) => of === s).map(([, key]) => key);
        for (const key of keys) {
          const table = [...document.querySelectorAll("table[data-key]")].find(t => t.dataset.key === key);
          one.append("div").attr("class", "scroll").append(() => table.cloneNode(true));
        }
        if (!keys.length)
          one.append("p").text(part.lacks[s]
            ? `Rules of ${part.systems[s]} are not shown: ${part.lacks[s]}.`
            : `Rules of ${part.systems[s]} on this query are not in this page, which has them for queries that are won or lost most ` +
              `against ${part.systems[part.baseline]}; rulerank explain shows them.`);
      }
    }

    let x, y;
    function pick() {
      const i = order[place];
      svg.select(".pick").attr("visibility", "visible").attr("d", `M${x(place + 0.5)} ${top}V${bottom}`);
      says.text(`Query ${part.qids[i]} (${folds[i]}): ${signed(differences[i])}`);
    }

    function draw() {
      const a = values(now.measure, now.system), b = values(now.measure, now.baseline), of = part.measures[now.measure];
      differences = a.map((v, i) => v - b[i]);
      order = d3.range(a.length).sort((i, j) => differences[j] - differences[i] || i - j);
      const compared = (of.compared[now.baseline] || [])[now.system];
      summary.text(compared
        ? `${of.name}: ${signed(compared[0])} on average over the queries; ${compared[1]} won, ${compared[2]} tied, ` +
          `${compared[3]} lost; p = ${three(compared[4])}, ${three(compared[5])} after Holm's correction`
        : "Choose two different systems.");
      svg.selectAll("*").remove();
      x = d3.scaleLinear().domain([0, order.length]).range([left, width - right]);
      y = scale({log: false}, [0, ...d3.extent(differences)], [bottom, top]);
      svg.append("title").text(`${of.name} of each query: ${part.systems[now.system]} minus ${part.systems[now.baseline]}, sorted`);
      axes(svg, x, y, ["queries, sorted", `difference in ${of.name}`], false, "; arrow keys and Enter, or a click, show one");
      // With more queries than columns in the picture, each column shows one query.
      const step = Math.max(1, Math.floor(order.length / 1200));
      for (const [name, sign] of [["s0", 1], ["s1", -1]]) {
        let path = "";
        for (let i = 0; i < order.length; i += step) {
          const v = differences[order[i]];
          if (v * sign > 0) path += `M${x(i).toFixed(2)} ${y(0).toFixed(1)}V${y(v).toFixed(1)}H${x(Math.min(i + step, order.length)).toFixed(2)}V${y(0).toFixed(1)}z`;
        }
        svg.append("path").attr("class", `bar ${name}`).attr("d", path);
      }
      svg.append("path").attr("class", "pick").attr("visibility", "hidden");
      lists.selectAll("*").remove();
      list("Won most", order.slice(0, 10).filter(i => differences[i] > 1e-4));
      list("Lost most", order.slice(-10).reverse().filter(i => differences[i] < -1e-4));
      one.selectAll("*").remove();
      says.text("");
      place = 0;
      if (now.query !== null) show(now.query);
    }
    const under = () => Math.max(0, Math.min(order.length - 1, Math.floor(x.invert(d3.mouse(svg.node())[0]))));
    svg.on("mousemove", () => { place = under(); pick(); });
    svg.on("click", () => { place = under(); show(order[place]); });
    svg.on("keydown", () => {
      const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -order.length, End: order.length}[d3.event.key];
      if (d3.event.key === "Enter") show(order[place]);
      else if (by) {
        place = Math.max(0, Math.min(order.length - 1, place + by));
        pick();
      } else return;
      d3.event.preventDefault();
    });
    draw();
  }

  document.querySelectorAll("figure[data-chart]").forEach(figure => lines(d3.select(figure), data.charts[+figure.dataset.chart]));
  document.querySelectorAll("section[data-part]").forEach(section => queries(d3.select(section), data.parts[+section.dataset.part]));
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
  document.documentElement.dataset.ready = "yes";
})();
