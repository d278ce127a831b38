// The pads: what is pressed on them is held, by a request that lasts as long, so that the server lets go when the page is gone.
import { word, known } from "./words.js";

const page = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16)).join("");

// Hand is what one player's pad presses on this page.
class Hand {
  constructor(player, say) {
    this.player = player;
    this.say = say;
    this.down = []; // the buttons, the last one pressed last
    this.held = null; // gives up the request that holds
    this.turn = Promise.resolve(); // requests come one after the other
  }

  press(button) {
    if (this.down.includes(button)) return;
    this.down.push(button);
    button.classList.add("down");
    this.change();
  }

  letGo(...buttons) {
    const before = this.down.length;
    this.down = this.down.filter((b) => !buttons.includes(b));
    for (const b of buttons) b.classList.remove("down");
    if (this.down.length !== before) this.change();
  }

  letGoOfAll() { this.letGo(...this.down); }

  // pressed is what all of it is: a pad has one direction, the last one.
  pressed() {
    const all = this.down.map((b) => b.dataset.press);
    const direction = all.filter((p) => /^\d$/.test(p)).pop();
    const buttons = all.filter((p) => !/^\d$/.test(p));
    return [...(direction ? [direction] : []), ...buttons].join(",");
  }

  change() {
    const press = this.pressed();
    this.turn = this.turn.then(() => this.hold(press));
  }

  // hold holds something until the next change. The one before is given up when the server has this one.
  async hold(press) {
    const before = this.held;
    this.held = null;
    if (press) {
      const held = this.held = new AbortController();
      try {
        const body = JSON.stringify({ press, player: this.player, hand: page });
        const response = await fetch("hold", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal: held.signal });
        this.watch(response, held);
      } catch (error) {
        this.ended(held);
        this.say(word("silent", error.message));
      }
    }
    if (before) before.abort();
  }

  // watch reads to the answer's end, which comes when nothing is held any more.
  async watch(response, held) {
    try {
      const text = await response.text();
      if (!response.ok) {
        const answer = JSON.parse(text);
        this.say(known(answer.code) ? word(answer.code) : answer.error);
      }
    } catch { /* it was given up */ }
    this.ended(held);
  }

  ended(held) {
    if (this.held !== held) return;
    this.held = null;
    for (const b of this.down) b.classList.remove("down");
    this.down = [];
  }
}

// pad makes the pad of a player from the page's template.
export function pad(player, say) {
  const all = document.getElementById("pad").content.cloneNode(true);
  const set = all.querySelector("fieldset");
  set.dataset.player = player;
  set.querySelector("legend").dataset.part = player;
  const hand = new Hand(player, say);
  for (const button of set.querySelectorAll("button")) touch(button, hand);
  for (const group of set.querySelectorAll("[role=group]")) rove(group);
  keys(set, hand);
  const away = () => hand.letGoOfAll();
  addEventListener("blur", away);
  addEventListener("pagehide", away);
  document.addEventListener("visibilitychange", () => { if (document.hidden) away(); });
  set.addEventListener("contextmenu", (event) => event.preventDefault()); // a long press is one
  return all;
}

// touch holds a button while a finger or the mouse is on it. A click without either, as readers of screens make it, is a tap.
function touch(button, hand) {
  let pointed = false;
  const up = () => {
    hand.letGo(button);
    setTimeout(() => { pointed = false; });
  };
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointed = true;
    button.setPointerCapture(event.pointerId);
    hand.press(button);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, up);
  button.addEventListener("click", () => {
    if (pointed) return;
    hand.press(button);
    hand.letGo(button);
  });
}

// keys are those of a pad that has the focus.
function keys(set, hand) {
  const pressed = new Map();
  const buttonOf = (event) => {
    const key = event.key.toLowerCase();
    if (key === " " || key === "enter") return event.target.closest("button");
    return set.querySelector(/^[1-9]$/.test(key) ? `[data-press="${key}"]` : /^[a-z]$/.test(key) ? `[data-key="${key}"]` : "none");
  };
  set.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const button = buttonOf(event);
    if (!button) return;
    event.preventDefault();
    if (event.repeat) return;
    pressed.set(event.key.toLowerCase(), button);
    hand.press(button);
  });
  set.addEventListener("focusout", (event) => {
    if (set.contains(event.relatedTarget)) return;
    hand.letGo(...pressed.values());
    pressed.clear();
  });
  set.addEventListener("keyup", (event) => {
    const key = event.key.toLowerCase();
    if (key === " ") event.preventDefault(); // no click
    if (pressed.has(key)) hand.letGo(pressed.get(key));
    pressed.delete(key);
  });
}

// rove makes a group one stop of the Tab key; arrows go on in it.
function rove(group) {
  const buttons = [...group.querySelectorAll("button")];
  const columns = Number(group.dataset.columns) || 1;
  const stop = (at) => buttons.forEach((b, i) => { b.tabIndex = i === at ? 0 : -1; });
  stop(group.classList.contains("cross") ? 4 : 0);
  group.addEventListener("focusin", (event) => stop(buttons.indexOf(event.target)));
  group.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    const to = buttons[buttons.indexOf(document.activeElement) + by];
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (to) to.focus();
  });
}
