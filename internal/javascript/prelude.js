// What functions of others expect of the language and the engine lacks. It is run in each new runtime.
(() => {
	"use strict";
	// grouped puts commas between each three digits.
	const grouped = digits => {
		let all = digits.slice(-3);
		for (let end = digits.length - 3; end > 0; end -= 3) {
			all = digits.slice(Math.max(end - 3, 0), end) + "," + all;
		}
		return all;
	};
	// shown is a number as it is written in English: at most three digits follow the point.
	const shown = x => {
		if (x !== x) return "NaN";
		const sign = x < 0 || Object.is(x, -0) ? "-" : "";
		if (x === Infinity || x === -Infinity) return sign + "∞";
		const [number, exponent = "0"] = String(Math.abs(x)).split("e");
		let [whole, part = ""] = number.split(".");
		if (exponent > 0) [whole, part] = [(whole + part).padEnd(1 + Number(exponent), "0"), ""];
		if (exponent < 0) [whole, part] = ["0", ""]; // less than a thousandth
		const rounded = BigInt(whole + part.slice(0, 3).padEnd(3, "0")) + (part[3] >= "5" ? 1n : 0n);
		const all = String(rounded).padStart(4, "0");
		return sign + grouped(all.slice(0, -3)) + ("." + all.slice(-3)).replace(/\.?0+$/, "");
	};
	const shownWhole = x => x < 0n ? "-" + grouped(String(-x)) : grouped(String(x));
	const own = (of, name, value) => Object.defineProperty(of, name, {value, writable: true, configurable: true});
	const inEnglish = show => function toLocaleString(locale, options) {
		if (options !== undefined) throw new TypeError("toLocaleString takes no options: there is no Intl");
		return show(this.valueOf());
	};
	own(Number.prototype, "toLocaleString", inEnglish(shown));
	own(BigInt.prototype, "toLocaleString", inEnglish(shownWhole));
	own(Object, "groupBy", (items, keyOf) => {
		const groups = Object.create(null);
		let i = 0;
		for (const item of items) {
			const key = keyOf(item, i++);
			(groups[typeof key === "symbol" ? key : String(key)] ??= []).push(item);
		}
		return groups;
	});
})();
