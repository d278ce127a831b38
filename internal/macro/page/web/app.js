import { choose, known, language, speak, word } from "./words.js";
import { Kept, download } from "./kept.js";
import { pad } from "./pads.js";
import { inJapanese } from "./mistakes.js";

const $ = (id) => document.getElementById(id);
const text = $("text"), marks = $("marks"), numbers = $("numbers");

// ask sends a wish to the server and returns its answer; what it refuses is shown.
async function ask(path, wish) {
  try {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) });
    const answer = await response.json();
    if (answer.error) say(known(answer.code) ? word(answer.code) : answer.error);
    return answer;
  } catch (error) {
    say(word("silent", error.message));
    return {};
  }
}

const say = (words) => { $("state").textContent = words; };
const wish = () => ({ text: text.value, player: Number($("player").value), mirror: $("mirror").checked });

// --- checking while one types

let checking = 0;
let shown = { asked: "", answer: {} }; // what the list of mistakes and the timeline are of

async function check() {
  const number = ++checking;
  const asked = text.value;
  const answer = await ask("check", wish());
  if (number !== checking || answer.error) return; // a newer text is being checked
  show(asked, answer);
}

const long = (answer) => answer.frames ? word("length", answer.frames, answer.seconds.toFixed(2), answer.steps) : "";

function show(asked, answer) {
  shown = { asked, answer };
  const mistakes = answer.mistakes || [];
  $("verdict").textContent = mistakes.length ? (mistakes.length === 1 ? word("mistake") : word("manyMistakes", mistakes.length)) : long(answer);
  $("verdict").className = mistakes.length ? "wrong" : "";
  text.setAttribute("aria-invalid", mistakes.length > 0);
  $("mistakes").replaceChildren(...mistakes.map((m) => item(asked, m)));
  mark(asked, mistakes);
  if (answer.timeline) {
    $("timeline").innerHTML = answer.timeline; // drawn by the server, of numbers and the names of inputs alone
    $("describe").textContent = long(answer);
  } else if (!asked.trim()) {
    $("timeline").replaceChildren();
    $("describe").textContent = "";
  } else {
    $("describe").textContent = word("old");
  }
  $("timeline").classList.toggle("old", !answer.timeline);
  label();
}

const part = (tag, content, name) => {
  const e = document.createElement(tag);
  if (name) e.className = name;
  e.append(...[].concat(content));
  return e;
};

// sentence is what the server says of a mistake in the page's language.
const sentence = (said) => document.documentElement.lang === "ja" ? inJapanese(said) : said;

// item is a mistake in the list: what is wrong, its line with the place marked, and the hint, a line each. It leads to its place.
function item(asked, m) {
  const button = part("button", [part("b", word("place", m.line, m.column)), " ", part("span", sentence(m.text), "said")]);
  const line = asked.split("\n")[m.line - 1] || "";
  const [from, to] = range(line, { ...m, line: 1 });
  if (line.trim()) button.append(part("span", [line.slice(0, from), part("mark", line.slice(from, to) || " "), line.slice(to)], "source"));
  if (m.hint) button.append(part("span", sentence(m.hint), "hinted"));
  button.addEventListener("click", () => {
    const [begin, end] = range(text.value, m);
    text.focus();
    text.setSelectionRange(begin, end);
  });
  return part("li", button);
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
    parts.push(asked.slice(at, from), part("mark", asked.slice(from, to)));
    at = to;
  }
  parts.push(asked.slice(at) + "\n");
  marks.replaceChildren(...parts);
  number(new Set(mistakes.map((m) => m.line)));
  scroll();
}

function number(wrong) {
  const count = text.value.split("\n").length;
  numbers.replaceChildren(...Array.from({ length: count }, (_, i) => part("div", String(i + 1), wrong.has(i + 1) ? "wrong" : "")));
}

function scroll() {
  marks.scrollTop = numbers.scrollTop = text.scrollTop;
  marks.scrollLeft = text.scrollLeft;
  numbers.style.height = marks.style.height = text.clientHeight + "px";
}

function written() {
  number(new Set());
  marks.replaceChildren();
  return check();
}

text.addEventListener("input", () => { kept.write(text.value); written(); });
text.addEventListener("scroll", scroll);
new ResizeObserver(scroll).observe(text);
$("player").addEventListener("change", () => { document.body.dataset.player = $("player").value; check(); });
$("mirror").addEventListener("change", check);

// --- the macros that are kept

const kept = new Kept(say);
let lost = null; // the macro that was deleted last

function list() {
  $("kept").replaceChildren(...kept.names().map((name) => new Option(name, name, false, name === kept.chosen)));
  $("name").value = kept.chosen;
  $("undo").hidden = !lost;
  if (lost) $("undo").textContent = word("undo", lost.name);
}

function open() {
  list();
  text.value = kept.text();
  return written();
}

// does lets a button change which macro stands in the box.
const does = (id, change) => $(id).addEventListener("click", () => { change(); open(); });

$("kept").addEventListener("change", () => { kept.chosen = $("kept").value; kept.keep(); open(); });
$("name").addEventListener("change", () => { kept.rename($("name").value); list(); });
does("create", () => kept.add(word("unnamed") + " " + (kept.names().length + 1), ""));
does("copy", () => kept.add(word("copyOf", kept.chosen), text.value));
does("remove", () => { lost = kept.remove(); });
does("undo", () => { lost.back(); lost = null; });
$("save").addEventListener("click", () => download(kept.chosen, text.value));
$("save-all").addEventListener("click", () => download("macros", kept.all()));
$("load").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", async () => {
  for (const file of $("files").files) kept.take(file.name, file.size > 1 << 20 ? "\0" : await file.text());
  $("files").value = "";
  open();
});

// --- playing

let playing = false;

// label says on Run and Stop whether they can do something now. They keep the focus when they cannot.
function label() {
  const wrong = (shown.answer.mistakes || []).length > 0;
  const state = (button, can, name) => {
    button.textContent = word(button.id);
    button.setAttribute("aria-disabled", !can);
    button.title = can ? "" : word(name);
  };
  state($("run"), !playing && !wrong, playing ? "runBusy" : "runNot");
  state($("stop"), playing, "stopNothing");
}

async function run() {
  if (playing) return say(word("busy"));
  if (!text.value.trim()) return say(word("nothing"));
  const answer = await ask("run", wish());
  if (answer.mistakes && answer.mistakes.length) {
    show(text.value, answer);
    say(word("notSent"));
    text.focus();
  }
}

$("run").addEventListener("click", run);
$("stop").addEventListener("click", () => ask("stop", {}));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { event.preventDefault(); ask("stop", {}); }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
});

$("pad-hint").before(pad(1, say), pad(2, say));
document.body.dataset.player = "1";

// --- what happens

let summed = 0; // the run whose summary stands there
let news = null; // what was told last
let heard = 0; // when
let perSecond = 60;

function told(what) {
  news = what;
  heard = performance.now();
  playing = news.playing;
  $("progress").max = news.frames || 1;
  $("progress").value = news.hands ? 0 : news.frame;
  document.body.dataset.playing = news.playing;
  label();
  if (news.playing) {
    const waiting = news.waiting ? word("waiting", news.waiting) : "";
    say((news.hands ? word("pressing", news.text) : word("playing", news.frame, news.frames)) + waiting);
    requestAnimationFrame(follow);
  } else {
    head(-1);
  }
  const last = news.last;
  if (!last) return;
  document.body.dataset.done = last.number;
  if (!news.playing) {
    const what = last.text.includes("\n") ? word("theMacro") : last.text.trim();
    say(last.error ? word("failed", last.error) : last.stopped ? word("stopped") : word("played", what));
  }
  if (last.number === summed) return;
  summed = last.number;
  $("lateness").innerHTML = last.lateness;
  const lines = (last.error ? [last.error] : []).concat(last.summary || []);
  $("summary").replaceChildren(...lines.map((line, i) => part("li", line, last.error && i === 0 ? "wrong" : "")));
}

// follow moves the playhead, also between what the server tells, for as long as the timeline is of what is played.
function follow() {
  if (!news || !news.playing) return head(-1);
  if (news.hands || news.text !== shown.asked || news.frames !== shown.answer.frames) return head(-1);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const since = still ? 0 : Math.min(performance.now() - heard, 250) / 1000;
  head(Math.min(news.frame + since * perSecond, news.frames));
  if (!still) requestAnimationFrame(follow);
}

// head puts the playhead at a frame; before the first one there is none.
function head(frame) {
  const svg = $("timeline").querySelector("svg");
  let line = $("playhead");
  if (!svg || frame < 0) return line && line.remove();
  if (!line || line.ownerSVGElement !== svg) {
    line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.id = "playhead";
    line.setAttribute("y1", 14);
    line.setAttribute("y2", svg.viewBox.baseVal.height);
    svg.append(line);
  }
  const begin = Number(svg.dataset.begin), end = Number(svg.dataset.end);
  const x = begin + (end - begin) * frame / news.frames;
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

const events = new EventSource("events");
events.onmessage = (event) => told(JSON.parse(event.data));
let gone = false;
events.onerror = () => {
  gone = true;
  say(word(events.readyState === EventSource.CLOSED ? "reload" : "gone"));
};
events.onopen = () => {
  if (gone) { gone = false; summed = 0; say(word("ready")); } // it may be another server, whose runs count from 1 again
};

// --- the language

function spoken() {
  speak(document);
  label();
  list();
  show(shown.asked, shown.answer);
  if (news) told(news); else say(word("ready"));
}

$("language").value = language();
$("language").addEventListener("change", () => { choose($("language").value); spoken(); });

(async () => {
  spoken();
  const setup = await (await fetch("setup")).json();
  $("device").textContent = setup.title;
  perSecond = setup.perSecond;
  kept.begin(setup.text);
  await open();
  document.body.dataset.ready = "true";
})();
