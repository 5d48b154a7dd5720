// What a TypeScript package offers: every exported name with its kind, and below it parameters, properties, types, whether
// they may be left out, and whether there is a word about them. Sources and declarations of one package give the same.

"use strict";

/** One line per fact about `entry`, the index of a package. */
function surface(ts, program, entry) {
    const checker = program.getTypeChecker();
    const lines = [];
    const seen = new Set();

    function put(path, fact) {
        lines.push(`${path}: ${fact}`);
    }

    function documented(symbol) {
        return symbol.getDocumentationComment(checker).length > 0 ? " [doc]" : "";
    }

    function isInternal(symbol) {
        const hasMark = symbol.getJsDocTags().some((tag) => tag.name === "internal");
        const flags = symbol.valueDeclaration ? ts.getCombinedModifierFlags(symbol.valueDeclaration) : 0;
        return hasMark || (flags & ts.ModifierFlags.Private) !== 0;
    }

    // Types as they are written: what a checker prints depends on the order in which it met them.
    function typeText(node) {
        if (node === undefined) {
            return "?";
        }
        return node.getText()
            .replace(/\s+/g, " ")
            .replace(/;? \}/g, "}")
            .replace(/\{ /g, "{")
            .replace(/import\("[^"]*"\)\./g, "");
    }

    function parameters(declaration) {
        return declaration.parameters
            .map((it) => `${it.name.getText()}${it.questionToken ? "?" : ""}: ${typeText(it.type)}`)
            .join(", ");
    }

    function property(path, symbol) {
        const declaration = symbol.valueDeclaration;
        const isStatic = ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Static ? "static " : "";
        const isReadonly = ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly ? "readonly " : "";
        const mark = declaration.questionToken ? "?" : "";
        put(path, `${isStatic}${isReadonly}property${mark} ${typeText(declaration.type)}${documented(symbol)}`);
    }

    function callables(path, symbol) {
        let declarations = symbol.declarations.filter((it) => it.parameters);
        // Of overloaded ones, the one with the body is not offered.
        if (declarations.some((it) => !it.body)) {
            declarations = declarations.filter((it) => !it.body);
        }
        for (const it of declarations) {
            const isStatic = ts.getCombinedModifierFlags(it) & ts.ModifierFlags.Static ? "static " : "";
            put(path, `${isStatic}callable (${parameters(it)}) => ${typeText(it.type)}`);
        }
    }

    function members(path, table) {
        for (const symbol of table?.values() ?? []) {
            if (symbol.name === "prototype" || isInternal(symbol) || symbol.flags & ts.SymbolFlags.TypeParameter) {
                continue;
            }
            const below = `${path}.${symbol.name === "__constructor" ? "constructor" : symbol.name}`;
            if (symbol.flags & ts.SymbolFlags.Property) {
                property(below, symbol);
            } else if (symbol.flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Constructor)) {
                callables(below, symbol);
            }
        }
    }

    function variable(path, symbol) {
        const type = checker.getTypeOfSymbol(symbol);
        // What loads when it is used is what it loads.
        const loaded = type.symbol;
        if (loaded && loaded.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Function)) {
            describe(path, loaded, false);
            return;
        }
        const literal = checker.getPropertiesOfType(type);
        if (loaded && loaded.flags & ts.SymbolFlags.ObjectLiteral || loaded?.flags & ts.SymbolFlags.TypeLiteral) {
            for (const member of literal) {
                const value = checker.typeToString(checker.getTypeOfSymbol(member));
                put(`${path}.${member.name}`, `value ${value}${documented(member)}`);
            }
            return;
        }
        put(path, `variable ${typeText(symbol.valueDeclaration.type)}`);
    }

    function describe(path, symbol, isDeep = true) {
        if (symbol.flags & ts.SymbolFlags.Alias) {
            symbol = checker.getAliasedSymbol(symbol);
        }
        if (isInternal(symbol)) {
            return;
        }
        if (symbol.flags & ts.SymbolFlags.Class) {
            const heritage = symbol.valueDeclaration.heritageClauses?.map((it) => it.getText()).join(" ") ?? "";
            put(path, `class ${heritage}${documented(symbol)}`);
            members(path, symbol.members);
            members(path, symbol.exports);
        }
        if (symbol.flags & ts.SymbolFlags.Interface) {
            put(path, `interface${documented(symbol)}`);
            members(path, symbol.members);
        }
        if (symbol.flags & ts.SymbolFlags.Function) {
            put(path, `function${documented(symbol)}`);
            callables(path, symbol);
        }
        if (symbol.flags & ts.SymbolFlags.Variable) {
            variable(path, symbol);
        }
        if (symbol.flags & ts.SymbolFlags.TypeAlias) {
            put(path, "type");
        }
        if (isDeep && symbol.flags & ts.SymbolFlags.Module) {
            exported(path, symbol);
        }
    }

    function exported(path, symbol) {
        const key = `${path} ${symbol.name}`;
        if (seen.has(key)) {
            return;
        }
        seen.add(key);
        for (const member of checker.getExportsOfModule(symbol)) {
            describe(path === "" ? member.name : `${path}.${member.name}`, member);
        }
    }

    exported("", checker.getSymbolAtLocation(program.getSourceFile(entry)));
    return [...new Set(lines)].sort();
}

module.exports = { surface };
