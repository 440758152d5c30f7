"use strict";

const element = id => document.getElementById(id);
let answer = null;  // of the last query

function say(message) {
  element("message").textContent = message;
  element("message").hidden = !message;
}

/** Sends a request; the JSON of the answer. */
async function call(method, path, body) {
  const headers = {};
  if (element("token").value) headers.Authorization = `Bearer ${element("token").value}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(path, {method, headers, body});
  if (reply.status === 401) element("token-field").hidden = false;
  const text = await reply.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${reply.status}: ${text}`);
  }
  if (!reply.ok) throw new Error(json.detail + (json.pointer ? ` (at ${json.pointer})` : ""));
  return json;
}

function row(body, cells) {
  const line = body.insertRow();
  for (const cell of cells) line.insertCell().textContent = cell;
  return line;
}

/** Shows what the features add to a document's score. */
function explain(rank) {
  const lines = [...element("ranking").tBodies[0].rows];
  lines.forEach((line, r) => line.classList.toggle("chosen", r === rank));
  const why = answer.explanation;
  const document_ = why.documents[rank];
  const body = element("effects").tBodies[0];
  body.replaceChildren();
  element("effects").caption.textContent = `Why ${lines[rank].cells[1].textContent} has rank ${rank + 1}`;
  if (why.base !== undefined) row(body, ["(base)", Number(why.base.toPrecision(6))]);
  why.features.map((feature, f) => [nameOf(feature), document_.adds[f]])
    .filter(([, adds]) => adds !== 0)
    .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
    .forEach(([name, adds]) => row(body, [name, (adds > 0 ? "+" : "") + Number(adds.toPrecision(6))]));
}

function nameOf(feature) {
  const own = feature.name ?? feature.feature;
  return feature.partner ? `${own} and ${feature.partner.name ?? feature.partner.feature}` : String(own);
}

function show(json) {
  answer = json;
  const body = element("ranking").tBodies[0];
  body.replaceChildren();
  element("effects").tBodies[0].replaceChildren();
  json.ranking.forEach((one, rank) => {
    const name = (one.id ?? `document ${one.document}`) + (one.title ? `: ${one.title}` : "");
    const line = row(body, [rank + 1, name, one.score]);
    line.tabIndex = 0;
    line.addEventListener("click", () => explain(rank));
    line.addEventListener("keydown", event => { if (event.key === "Enter") explain(rank); });
  });
  element("results").hidden = false;
  if (json.ranking.length > 0) explain(0);
}

/** Runs `work` and shows its failure. */
async function attempt(work) {
  say("");
  try {
    await work();
  } catch (failure) {
    say(failure.message);
  }
}

/** An example of a body for the model, and what the model is. */
async function choose() {
  const model = await call("GET", `/v2/models/${element("model").value}`);
  const about = model.parameters;
  const columns = model.inputs[0].shape[1];
  element("about").textContent = `Version ${model.versions[0]}, ${columns} features, ${about.components.join(", ")}; ` +
    `${about.portability}.`;
  const features = (about.features ?? Array.from({length: columns}, (_, c) => about.first_feature + c)).slice(0, columns);
  const rows = [features.map(() => 1), features.map(() => 0)].map(values => JSON.stringify(values));
  element("body").value = `{"features": ${JSON.stringify(features)},\n "ids": ["first", "second"],\n` +
    ` "rows": [\n  ${rows.join(",\n  ")}\n ]}`;
}

async function begin() {
  const models = await call("POST", "/v2/repository/index", "{}");
  element("model").replaceChildren(...models.filter(one => one.state === "READY").map(one => new Option(one.name)));
  await choose();
  const search = await call("GET", "/v2");
  element("search").hidden = !search.extensions.includes("search");
}

element("model").addEventListener("change", () => attempt(choose));
element("token").addEventListener("change", () => attempt(begin));
element("rank").addEventListener("submit", event => {
  event.preventDefault();
  attempt(async () => {
    const body = JSON.parse(element("body").value);
    show(await call("POST", "/rank", JSON.stringify({...body, model: element("model").value, explain: true})));
  });
});
element("search").addEventListener("submit", event => {
  event.preventDefault();
  attempt(async () => show(await call("POST", "/search", JSON.stringify(
    {query: element("query").value, model: element("model").value, explain: true}))));
});
attempt(begin);
