// The macros that this browser keeps: names and texts, in its storage.
import { word } from "./words.js";

const place = "hikyaku.macro.kept";
const most = 1 << 20; // characters of a macro, which the server takes
const heading = /^# macro: (.+)$/;

export class Kept {
  // say tells what went wrong.
  constructor(say) {
    this.say = say;
    this.macros = new Map();
    this.chosen = "";
    this.given = null; // the text that the server gave at first
    try {
      const all = JSON.parse(localStorage.getItem(place));
      for (const [name, text] of all.macros) this.macros.set(String(name), String(text));
      this.chosen = this.macros.has(all.chosen) ? all.chosen : this.names()[0] || "";
      this.given = all.given;
    } catch { /* nothing is kept yet, or not by this page */ }
  }

  names() { return [...this.macros.keys()]; }
  text() { return this.macros.get(this.chosen) || ""; }

  keep() {
    try {
      localStorage.setItem(place, JSON.stringify({ macros: [...this.macros], chosen: this.chosen, given: this.given }));
    } catch (error) {
      this.say(word("notKept", error.message));
    }
  }

  // begin takes in what the server gives, if it is something else than the last time.
  begin(text) {
    if (this.given === text && this.macros.size) return;
    const fresh = this.macros.size === 0;
    this.given = text;
    this.add(fresh ? word("unnamed") + " 1" : word("given"), text);
  }

  // free is a name that is not taken.
  free(name) {
    name = name.trim().slice(0, 100) || word("unnamed");
    if (!this.macros.has(name)) return name;
    for (let i = 2; ; i++) if (!this.macros.has(name + " " + i)) return name + " " + i;
  }

  add(name, text) {
    this.chosen = this.free(name);
    this.macros.set(this.chosen, text);
    this.keep();
  }

  write(text) {
    this.macros.set(this.chosen, text);
    this.keep();
  }

  // rename keeps the order.
  rename(name) {
    name = name.trim().slice(0, 100);
    if (!name || name === this.chosen) return;
    if (this.macros.has(name)) return this.say(word("taken", name));
    this.macros = new Map([...this.macros].map(([n, text]) => [n === this.chosen ? name : n, text]));
    this.chosen = name;
    this.keep();
  }

  // remove returns what brings the macro back.
  remove() {
    const before = new Map(this.macros), name = this.chosen;
    const names = this.names(), at = names.indexOf(name);
    this.macros.delete(name);
    this.chosen = names[at + 1] || names[at - 1] || "";
    if (!this.chosen) this.add(word("unnamed") + " 1", "");
    this.keep();
    return { name, back: () => this.add(name, before.get(name)) };
  }

  // all is every macro in one text, which is a macro too.
  all() { return [...this.macros].map(([name, text]) => "# macro: " + name + "\n" + text.replace(/\n*$/, "\n")).join("\n"); }

  // take takes in a file: one macro, or all that were exported.
  take(file, text) {
    if (text.length > most || text.includes("\ufffd") || text.includes("\0")) return this.say(word("notRead", file));
    const parts = [];
    for (const line of text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n").split("\n")) {
      const name = heading.exec(line);
      if (name || !parts.length) parts.push({ name: name ? name[1] : file.replace(/\.[^.]*$/, ""), lines: [] });
      if (!name) parts[parts.length - 1].lines.push(line);
    }
    for (const part of parts.length > 1 ? parts.filter((p) => p.lines.join("").trim()) : parts) {
      this.add(part.name, part.lines.join("\n").replace(/^\n+|\n+$/g, "") + "\n");
    }
  }
}

// download lets the browser save a text as a file.
export function download(name, text) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  a.download = name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_") + ".txt";
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
