// Does with files what an editor does, and writes one JSON value.
//
//   node editor.mjs MODULES complain SCHEMA FILE…       the lines of each file that the YAML extension of VS Code marks, from 1
//   node editor.mjs MODULES complete SCHEMA FILE LINE COLUMN   what it offers there
//   node editor.mjs MODULES mermaid FILE…                what Mermaid says of each: the type of diagram, or its error
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, what, ...args] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));

async function server(schemaFile) {
	const { getLanguageService } = require("yaml-language-server/out/server/src/languageservice/yamlLanguageService.js");
	const uri = pathToFileURL(schemaFile).href;
	const service = getLanguageService({
		schemaRequestService: async () => readFileSync(schemaFile, "utf8"),
		workspaceContext: { resolveRelativePath: (path) => path },
		telemetry: { send() {}, sendError(name, e) { throw e; }, sendTrack() {} },
		yamlSettings: {},
		clientCapabilities: {},
	});
	service.configure({ validate: true, completion: true, hover: true, schemas: [{ uri, fileMatch: ["*"] }], yamlVersion: "1.2" });
	return service;
}

function document(file) {
	const { TextDocument } = require("vscode-languageserver-textdocument");
	return TextDocument.create(pathToFileURL(file).href, "yaml", 0, readFileSync(file, "utf8"));
}

const done = (value) => process.stdout.write(JSON.stringify(value) + "\n");

switch (what) {
	case "complain": {
		const service = await server(args.shift());
		const found = {};
		for (const file of args) {
			const marks = await service.doValidation(document(file), false);
			found[file] = marks.map((d) => ({ line: d.range.start.line + 1, text: d.message }));
		}
		done(found);
		break;
	}
	case "complete": {
		const service = await server(args.shift());
		const [file, line, column] = args;
		const at = { line: line - 1, character: column - 1 };
		const offered = await service.doComplete(document(file), at, false);
		done(offered.items.map((i) => ({ label: i.label, text: String(i.documentation?.value ?? i.documentation ?? "") })));
		break;
	}
	case "mermaid": {
		const { JSDOM } = require("jsdom"); // Mermaid wants a page, also where it only reads
		globalThis.window = new JSDOM("").window;
		globalThis.document = globalThis.window.document;
		const mermaid = (await import(pathToFileURL(join(modules, "node_modules/mermaid/dist/mermaid.core.mjs")))).default;
		const found = {};
		for (const file of args) {
			try {
				found[file] = (await mermaid.parse(readFileSync(file, "utf8"))).diagramType;
			} catch (e) {
				found[file] = String(e.message ?? e);
			}
		}
		done(found);
		break;
	}
	default:
		throw new Error(`there is no ${what}`);
}
