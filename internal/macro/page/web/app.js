"use strict";

const $ = (id) => document.getElementById(id);
const text = $("text"), marks = $("marks"), numbers = $("numbers");

// ask sends a wish to the server and returns its answer; what it refuses is shown.
async function ask(path, wish) {
  try {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) });
    const answer = await response.json();
    if (answer.error) say(answer.error);
    return answer;
  } catch (error) {
    say("the server does not answer: " + error.message);
    return {};
  }
}

const say = (words) => { $("state").textContent = words; };
const wish = () => ({ text: text.value, player: Number($("player").value), mirror: $("mirror").checked });

// --- checking while one types

let checking = 0;

async function check() {
  const number = ++checking;
  const asked = text.value;
  const answer = await ask("check", wish());
  if (number !== checking || answer.error) return; // a newer text is being checked
  show(asked, answer);
}

function show(asked, answer) {
  const mistakes = answer.mistakes || [];
  $("verdict").textContent = mistakes.length ? (mistakes.length === 1 ? "1 mistake" : mistakes.length + " mistakes") : answer.describe || "";
  $("verdict").className = mistakes.length ? "wrong" : "";
  text.setAttribute("aria-invalid", mistakes.length > 0);
  $("mistakes").replaceChildren(...mistakes.map(item));
  mark(asked, mistakes);
  if (answer.timeline) {
    $("timeline").innerHTML = answer.timeline; // drawn by the server, of numbers and the names of inputs alone
    $("describe").textContent = answer.describe;
  } else if (!asked.trim()) {
    $("timeline").replaceChildren();
    $("describe").textContent = "";
  } else {
    $("describe").textContent = "as it was before the mistakes";
  }
  $("timeline").classList.toggle("old", !answer.timeline);
}

// item is a mistake in the list; it leads to its place.
function item(m) {
  const button = document.createElement("button");
  const place = document.createElement("b");
  place.textContent = "line " + m.line + ", column " + m.column;
  button.append(place, " " + m.text);
  if (m.hint) {
    const hint = document.createElement("span");
    hint.textContent = m.hint;
    button.append(hint);
  }
  button.addEventListener("click", () => {
    const [from, to] = range(text.value, m);
    text.focus();
    text.setSelectionRange(from, to);
  });
  const li = document.createElement("li");
  li.append(button);
  return li;
}

// range is where a mistake stands in a text: its columns count characters, and JavaScript counts halves of some.
function range(whole, m) {
  const lines = whole.split("\n");
  let from = 0;
  for (let i = 0; i < m.line - 1 && i < lines.length; i++) from += lines[i].length + 1;
  const line = Array.from(lines[m.line - 1] || "");
  const before = line.slice(0, m.column - 1).join("").length;
  const length = line.slice(m.column - 1, m.column - 1 + m.length).join("").length;
  return [from + before, from + before + length];
}

// mark underlines the mistakes below the text, and marks the numbers of their lines.
function mark(asked, mistakes) {
  const parts = [];
  let at = 0;
  for (const m of mistakes) {
    const [from, to] = range(asked, m);
    if (from < at || to <= from) continue;
    parts.push(asked.slice(at, from));
    const wave = document.createElement("mark");
    wave.textContent = asked.slice(from, to);
    parts.push(wave);
    at = to;
  }
  parts.push(asked.slice(at) + "\n");
  marks.replaceChildren(...parts);
  number(new Set(mistakes.map((m) => m.line)));
  scroll();
}

function number(wrong) {
  const count = text.value.split("\n").length;
  const lines = [];
  for (let i = 1; i <= count; i++) {
    const line = document.createElement("div");
    line.textContent = i;
    if (wrong.has(i)) line.className = "wrong";
    lines.push(line);
  }
  numbers.replaceChildren(...lines);
}

function scroll() {
  marks.scrollTop = numbers.scrollTop = text.scrollTop;
  marks.scrollLeft = text.scrollLeft;
  numbers.style.height = marks.style.height = text.clientHeight + "px";
}

text.addEventListener("input", () => { number(new Set()); marks.replaceChildren(); check(); });
text.addEventListener("scroll", scroll);
new ResizeObserver(scroll).observe(text);
$("player").addEventListener("change", check);
$("mirror").addEventListener("change", check);

// --- playing

async function run() {
  const answer = await ask("run", wish());
  if (answer.mistakes && answer.mistakes.length) {
    show(text.value, answer);
    say("nothing was sent: correct the mistakes first");
    text.focus();
  }
}

$("run").addEventListener("click", run);
$("stop").addEventListener("click", () => ask("stop", {}));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { event.preventDefault(); ask("stop", {}); }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
});

// --- pads

function pad(player) {
  const all = $("pad").content.cloneNode(true);
  const set = all.querySelector("fieldset");
  set.dataset.player = player;
  set.querySelector("legend").textContent = "Player " + player;
  const press = (button) => {
    ask("press", { press: button.dataset.press, player: player });
    button.classList.add("down");
    requestAnimationFrame(() => setTimeout(() => button.classList.remove("down"), 120));
  };
  for (const button of set.querySelectorAll("button")) button.addEventListener("click", () => press(button));
  set.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const key = event.key.toLowerCase();
    const button = set.querySelector(/^[1-9]$/.test(key) ? `[data-press="${key}"]` : /^[a-z]$/.test(key) ? `[data-key="${key}"]` : "none");
    if (!button) return;
    event.preventDefault();
    press(button);
  });
  return all;
}

$("pad").before(pad(1), pad(2));

// --- what happens

let shown = 0;

function told(news) {
  $("progress").max = news.frames || 1;
  $("progress").value = news.frame;
  document.body.dataset.playing = news.playing;
  if (news.playing) {
    say("playing: frame " + news.frame + " of " + news.frames + (news.waiting ? ", " + news.waiting + " waiting" : ""));
  }
  const last = news.last;
  if (!last) return;
  document.body.dataset.done = last.number;
  if (!news.playing) {
    const what = last.text.includes("\n") ? "the macro" : last.text.trim();
    say(last.error ? "failed: " + last.error : last.stopped ? "stopped; everything was let go" : "played " + what);
  }
  if (last.number === shown) return;
  shown = last.number;
  $("lateness").innerHTML = last.lateness;
  const lines = (last.error ? [last.error] : []).concat(last.summary || []);
  $("summary").replaceChildren(...lines.map((line, i) => {
    const li = document.createElement("li");
    li.textContent = line;
    if (last.error && i === 0) li.className = "wrong";
    return li;
  }));
}

const events = new EventSource("events");
events.onmessage = (event) => told(JSON.parse(event.data));
let gone = false;
events.onerror = () => {
  gone = true;
  say(events.readyState === EventSource.CLOSED ? "the server does not tell what happens: load the page again" : "the server is gone; trying again");
};
events.onopen = () => {
  if (gone) { gone = false; shown = 0; say("ready"); } // it may be another server, whose runs count from 1 again
};

(async () => {
  const setup = await (await fetch("setup")).json();
  $("device").textContent = setup.title;
  if (!text.value) text.value = setup.text;
  number(new Set());
  await check();
  document.body.dataset.ready = "true";
})();
