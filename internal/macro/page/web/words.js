// All texts of the page. {0}, {1}, … are put in by say and word.
const table = {
  device: { en: "Played on", ja: "出力先" },
  language: { en: "Language", ja: "言語" },
  macro: { en: "Macro", ja: "マクロ" },
  kept: { en: "Kept macros", ja: "保存したマクロ" },
  name: { en: "Name", ja: "名前" },
  create: { en: "New", ja: "新規" },
  copy: { en: "Duplicate", ja: "複製" },
  remove: { en: "Delete", ja: "削除" },
  undo: { en: "Bring back {0}", ja: "「{0}」を元に戻す" },
  load: { en: "Import", ja: "読み込み" },
  save: { en: "Export", ja: "書き出し" },
  saveAll: { en: "Export all", ja: "すべて書き出し" },
  unnamed: { en: "macro", ja: "マクロ" },
  given: { en: "from the start", ja: "起動時のマクロ" },
  copyOf: { en: "copy of {0}", ja: "{0}のコピー" },
  notKept: { en: "this browser does not keep macros: {0}", ja: "このブラウザには保存できません: {0}" },
  notRead: { en: "{0} is not a text of at most a megabyte", ja: "{0} は1MB以下のテキストではありません" },
  taken: { en: "there is a macro {0} already", ja: "「{0}」という名前はもう使われています" },
  keptHint: { en: "Macros are kept in this browser.", ja: "マクロはこのブラウザに保存されます。" },
  mistakes: { en: "Mistakes", ja: "間違い" },
  mistake: { en: "1 mistake", ja: "間違い1件" },
  manyMistakes: { en: "{0} mistakes", ja: "間違い{0}件" },
  place: { en: "line {0}, column {1}", ja: "{0}行{1}文字目" },
  length: { en: "{0} frames, {1} seconds, {2} states", ja: "{0}フレーム、{1}秒、{2}状態" },
  old: { en: "as it was before the mistakes", ja: "間違いの前のもの" },
  run: { en: "Run", ja: "実行" },
  runNot: { en: "Run: correct the mistakes first", ja: "実行（間違いを直してから）" },
  runBusy: { en: "Run: when this one has ended", ja: "実行（終わってから）" },
  stop: { en: "Stop", ja: "停止" },
  stopNothing: { en: "Stop: nothing is played", ja: "停止（何も動いていません）" },
  linesOf: { en: "Lines of", ja: "行の主:" },
  player: { en: "player {0}", ja: "プレイヤー{0}" },
  mirror: { en: "facing left (mirrored)", ja: "左向き（左右反転）" },
  keys: { en: "Ctrl+Enter runs, Escape stops.", ja: "Ctrl+Enterで実行、Escで停止。" },
  progress: { en: "Frames played", ja: "再生したフレーム" },
  time: { en: "Timeline", ja: "タイムライン" },
  late: { en: "Lateness of the last run", ja: "前回の遅れ" },
  ready: { en: "ready", ja: "準備完了" },
  playing: { en: "playing: frame {0} of {1}", ja: "再生中: {1}フレーム中{0}" },
  pressing: { en: "pressing {0}", ja: "{0} を押しています" },
  waiting: { en: ", {0} waiting", ja: "、待ち{0}件" },
  theMacro: { en: "the macro", ja: "マクロ" },
  failed: { en: "failed: {0}", ja: "失敗: {0}" },
  stopped: { en: "stopped; everything was let go", ja: "停止しました。すべて離しました" },
  played: { en: "played {0}", ja: "{0} を再生しました" },
  notSent: { en: "nothing was sent: correct the mistakes first", ja: "何も送っていません。間違いを直してください" },
  nothing: { en: "nothing was sent: nothing is written", ja: "何も送っていません。マクロが空です" },
  busy: { en: "a macro is being played: stop it first", ja: "マクロの再生中です。先に停止してください" },
  held: { en: "pads are being pressed: let go of them first", ja: "パッドが押されています。先に離してください" },
  full: { en: "too many presses wait already", ja: "押されたボタンが多すぎます" },
  closing: { en: "the page is closing", ja: "終了するところです" },
  silent: { en: "the server does not answer: {0}", ja: "サーバーが応答しません: {0}" },
  reload: { en: "the server does not tell what happens: load the page again", ja: "状況が届きません。ページを読み込み直してください" },
  gone: { en: "the server is gone; trying again", ja: "サーバーに届きません。再接続しています" },
  pads: { en: "Pads", ja: "パッド" },
  padOf: { en: "Player {0}", ja: "プレイヤー{0}" },
  cross: { en: "Direction pad", ja: "方向キー" },
  attacks: { en: "Attacks", ja: "攻撃" },
  others: { en: "Other buttons", ja: "その他のボタン" },
  7: { en: "up left, 7", ja: "左上、7" }, 8: { en: "up, 8", ja: "上、8" }, 9: { en: "up right, 9", ja: "右上、9" },
  4: { en: "left, 4", ja: "左、4" }, 5: { en: "nothing, 5", ja: "ニュートラル、5" }, 6: { en: "right, 6", ja: "右、6" },
  1: { en: "down left, 1", ja: "左下、1" }, 2: { en: "down, 2", ja: "下、2" }, 3: { en: "down right, 3", ja: "右下、3" },
  lp: { en: "light punch", ja: "小パンチ" }, mp: { en: "medium punch", ja: "中パンチ" }, hp: { en: "heavy punch", ja: "大パンチ" },
  lk: { en: "light kick", ja: "小キック" }, mk: { en: "medium kick", ja: "中キック" }, hk: { en: "heavy kick", ja: "大キック" },
  padHint: {
    en: "A pad is held as long as its button is, for 15 seconds at most. Arrow keys go from button to button. With the focus on a pad, the keys 1 to 9 are its directions, U I O its punches and J K L its kicks.",
    ja: "ボタンを押している間、最長15秒まで押し続けます。矢印キーでボタンを移り、パッドにフォーカスがあるときは1～9が方向、U I Oがパンチ、J K Lがキックです。",
  },
};

const kept = "hikyaku.macro.language";

// language is that which was chosen, or the first of the browser's that the page speaks.
export function language() {
  let chosen = null;
  try { chosen = localStorage.getItem(kept); } catch { /* nothing is kept here */ }
  const wanted = (chosen ? [chosen] : navigator.languages).map((l) => l.slice(0, 2).toLowerCase());
  return wanted.find((l) => l in table.run) || "en";
}

let now = language();

// word is a text in the page's language.
export function word(name, ...parts) {
  const text = table[name][now];
  return text.replace(/\{(\d)\}/g, (_, i) => parts[i]);
}

export const known = (name) => name in table;

// speak writes all texts of a part of the page: data-word is what stands in an element, data-label its name for readers of screens.
export function speak(part) {
  for (const e of part.querySelectorAll("[data-word]")) e.textContent = word(e.dataset.word, e.dataset.part);
  for (const e of part.querySelectorAll("[data-label]")) e.setAttribute("aria-label", word(e.dataset.label, e.dataset.part));
  document.documentElement.lang = now;
}

export function choose(chosen) {
  now = chosen;
  try { localStorage.setItem(kept, chosen); } catch { /* nothing is kept here */ }
}
