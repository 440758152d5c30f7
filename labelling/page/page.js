"use strict";
// One page: it requests the next question from the program, shows it, and sends the answer. Texts of
// the collection are only put into text nodes.

const $ = (id) => document.getElementById(id);
let labeller = localStorage.getItem("rulerank labeller") || "";
let now = null;        // the last state the program sent
let whole = false;     // whether the whole text is shown
let busy = false;
let estimating = false;
let estimatedAt = -1;  // answers at the last estimate
let expected = null;   // documents to label in all, by the last estimate
let waiting = 0;

if (location.hash.length > 1) {
  sessionStorage.setItem("rulerank token", location.hash.slice(1));
  history.replaceState(null, "", "/");
}
const token = sessionStorage.getItem("rulerank token") || "";

function element(name, text, ...classes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  made.classList.add(...classes);
  return made;
}

function show(id, on) {
  $(id).hidden = !on;
}

function say(text) {
  $("message").textContent = text;
  show("message", text !== "");
}

async function post(path, body) {
  let reply;
  try {
    reply = await fetch(path, {
      method: "POST",
      headers: {"content-type": "application/json", "x-rulerank-token": token},
      body: JSON.stringify({labeller, ...body}),
    });
  } catch {
    throw new Error("The program has stopped. Start it again and open the address that it prints. " +
                    "Every answer after which the next document appeared is saved.");
  }
  const result = await reply.json();
  if (!reply.ok) throw new Error(result.error);
  return result;
}

// One request at a time: an answer is for the document that is on the page. Whether it was taken.
async function ask(path, body = {}) {
  if (busy) return false;
  busy = true;
  clearTimeout(waiting);
  let taken = false;
  try {
    const state = await post(path, body);
    taken = true;
    say("");
    render(state);
  } catch (error) {
    say(error.message);
  } finally {
    busy = false;
  }
  estimateNowAndThen();
  return taken;
}

function askForAName() {
  $("labeller").value = labeller;
  show("name", true);
  $("labeller").focus();
}

// The form stays until the program has taken the name, and a name that it did not take is not kept.
async function begin(name) {
  labeller = name;
  if (await ask("/next")) {
    localStorage.setItem("rulerank labeller", labeller);
    $("labeller").blur();  // the hidden field would get keys until the browser repaints the page
    show("name", false);
  } else {
    askForAName();
  }
}

function pieces(target, list) {
  target.replaceChildren(...list.map(([text, marked]) =>
    marked ? element("mark", text) : document.createTextNode(text)));
}

function answerName(answer) {
  if (answer === null) return "skip";
  const name = now.labelNames[answer];
  return name === undefined ? String(answer) : answer + " " + name;
}

function renderAnswers() {
  const buttons = [];
  const add = (text, key, action, ...classes) => {
    const button = element("button", text, ...classes);
    button.type = "button";
    if (key) button.append(" ", element("kbd", key));
    button.addEventListener("click", action);
    buttons.push(button);
    return button;
  };
  for (let label = 0; label <= now.maxLabel; ++label) {
    const button = add(answerName(label), "", () => answer(label), "label");
    button.id = "label-" + label;
    if (now.before === label) button.classList.add("given");
  }
  add("Skip", "s", () => answer(null)).id = "skip";
  add("Undo", "u", undo).id = "undo";
  add(whole ? "Passage" : "Whole text", "t", toggleText).id = "toggle";
  $("answers").replaceChildren(...buttons);
}

function renderText() {
  const q = now.question;
  pieces($("text"), whole ? q.whole : q.passage);
  renderAnswers();
}

function renderQuestion() {
  const q = now.question;
  for (const id of ["qid", "query", "docid", "comment", "why"]) $(id).textContent = q[id];
  if (q.comment === "docid = " + q.docid) $("comment").textContent = "";
  pieces($("title"), q.title);
  $("before").textContent = "before" in now ? "You answered " + answerName(now.before) + "." : "";
  $("note").value = now.note || "";
  $("brings").replaceChildren(...q.brings.map((text) => element("li", text)));
  $("features").replaceChildren(...q.features.map((f) => {
    const row = element("tr");
    row.append(element("td", f.value), element("td", f.range));
    return row;
  }));
  $("neighbours").replaceChildren(...q.neighbours.map((n) => {
    const item = element("li");
    const name = element("bdi", n.title || n.docid);
    item.append(element("b", "label " + answerName(n.label)), " ", name,
                " (" + n.docid + ", " + n.shared + " of " + q.featureCount + " features equal" +
                (n.qid === q.qid ? "" : "; query " + n.qid + " " + n.query) + ")");
    return item;
  }));
  renderText();
}

function makeButton(text, action) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

// A row of a table about a document: texts in cells, then buttons.
function documentRow(of, texts, ...buttons) {
  const row = element("tr");
  const cell = element("td");
  cell.append(...buttons);
  row.append(element("td", "document " + of.docid + ", query " + of.qid),
             ...texts.map((text) => element("td", text)), cell);
  return row;
}

function withNote(text, note) {
  return note === "" ? text : text + " (" + note + ")";
}

function lookAgain(document) {
  return makeButton("Look again", () => ask("/show", {document}));
}

function renderDisputes() {
  show("disputes", now.disputes.length > 0);
  $("disputes").querySelector("tbody").replaceChildren(...now.disputes.map((d) => documentRow(
    d, [d.answers.map((a) => withNote(a.labeller + ": " + answerName(a.answer), a.note)).join(", "),
        "counts as " + answerName(d.label)], lookAgain(d.document))));
}

// The list is requested only while it is open.
async function renderMine() {
  show("mine", now !== null && now.mine > 0);
  if (!now || now.mine === 0 || !$("mine").open) return;
  try {
    const list = (await post("/mine")).mine;
    $("mine").querySelector("tbody").replaceChildren(...list.map((a, i) => documentRow(
      a, [withNote(answerName(a.answer), a.note)], lookAgain(a.document),
      makeButton(i === 0 ? "Undo" : "Undo back to here (" + (i + 1) + ")", () => ask("/undo", {document: a.document})))));
  } catch (error) {
    say(error.message);
  }
}

// Towards the number of documents to label or, where nobody said it, towards the estimate.
function renderProgress() {
  const labels = now.answers - now.skipped, goal = now.goal === null ? expected : now.goal;
  show("done", goal !== null);
  if (goal !== null) [$("done").max, $("done").value] = [Math.max(goal, labels), labels];
}

function render(state) {
  if (state.state === "ended") {
    for (const id of ["question", "end", "wait", "mine", "disputes"]) show(id, false);
    $("progress").textContent = "Ended. The chosen documents are in " + state.out + ".";
    $("expected").textContent = "";
    now = null;
    return;
  }
  now = state;
  if (now.state === "question") whole = false;
  const labels = now.answers - now.skipped;
  const all = now.goal === null ? labels : now.goal;
  $("progress").textContent = labels + (now.goal === null ? "" : " of " + now.goal) +
    (all === 1 ? " document labelled" : " documents labelled") +
    (now.skipped === 0 ? "" : ", " + now.skipped + " skipped") +
    (now.mine === now.answers ? "" : ", " + now.mine + " answers by you");
  $("who").textContent = labeller + (now.labellers.length > 1 ? " of " + now.labellers.join(", ") : "");
  renderProgress();
  show("guide", now.guidelines !== "");
  $("guidelines").textContent = now.guidelines;
  $("most").textContent = now.maxLabel;
  $("out").textContent = now.out;
  show("question", now.state === "question");
  show("end", now.state === "done");
  show("wait", now.state === "waiting");
  if (now.state === "question") renderQuestion();
  if (now.state === "done") $("expected").textContent = "";
  renderDisputes();
  renderMine();
  if (now.state === "waiting") waiting = setTimeout(() => ask("/next"), 2000);
  document.title = labels + " labelled - rulerank";
  scrollTo(0, 0);
}

function answer(value) {
  if (now && now.state === "question") ask("/answer", {document: now.question.document, answer: value, note: $("note").value.trim()});
}

function undo() {
  if (now) ask("/undo");
}

function toggleText() {
  whole = !whole;
  renderText();
}

// Beside the other requests: labelling goes on while it is computed.
async function estimate() {
  if (estimating || !now) return;
  estimating = true;
  estimatedAt = now.answers;
  const labels = now.answers - now.skipped;
  try {
    const e = await post("/estimate");
    if (!now || now.state !== "question") return;
    $("expected").textContent = e.documents === null ? "too few answers to estimate how many more"
      : "about " + e.documents + " more expected (" + e.low + " to " + e.high + ")";
    $("expected").title = e.text;
    expected = e.documents === null ? null : labels + e.documents;
    renderProgress();
  } catch (error) {
    say(error.message);
  } finally {
    estimating = false;
  }
}

// After every tenth answer, where nobody said how many are to be labelled: it costs as much as all questions.
function estimateNowAndThen() {
  if (now && now.goal === null && now.state === "question" && Math.abs(now.answers - estimatedAt) >= 10 && now.answers >= 10) estimate();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || !now ||
      event.target instanceof HTMLInputElement) return;
  const label = /^[0-9]$/.test(event.key) ? Number(event.key) : -1;
  if (label >= 0 && label <= now.maxLabel && now.maxLabel < 10) answer(label);
  else if (event.key === "s") answer(null);
  else if (event.key === "u") undo();
  else if (event.key === "t" && now.state === "question") toggleText();
  else if (event.key === "e") estimate();
  else if (event.key === "Enter" && now.state === "done" && !(event.target instanceof HTMLButtonElement)) ask("/finish");
  else return;
  event.preventDefault();
});

$("mine").addEventListener("toggle", renderMine);
$("note").addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "Escape") $("note").blur();  // keys are labels again
});
$("finish").addEventListener("click", () => ask("/finish"));
$("name").addEventListener("submit", (event) => {
  event.preventDefault();
  begin($("labeller").value.trim());
});
$("who").addEventListener("click", askForAName);

if (token === "") {
  say("Open the whole address that the program printed. This address lacks the part from # on.");
} else if (labeller === "") {
  askForAName();
} else {
  begin(labeller);
}
